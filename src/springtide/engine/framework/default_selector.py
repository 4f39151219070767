"""By what a pod is selected: the pods that a profile's default spread counts beside it.

The labels that the pod's services select by, together with the selector of its controller. A pod
that nothing selects is not spread by default.
"""

from collections.abc import Iterable, Mapping

from springtide.base.selectors import (
    LabelSelector,
    MalformedSelector,
    Selector,
    compile_selector,
    label_selector,
)


def default_selector(
    labels: Mapping[str, str],
    services: Iterable[Mapping[str, str]],
    *,
    controller: LabelSelector | Mapping[str, str] | None = None,
) -> Selector:
    """Return the selector of a pod with these labels.

    `services` are the selectors of all services of its namespace. The controller of a replication
    controller's pod selects by plain labels, which replace those of services; that of a replica
    set's or stateful set's pod is a condition more. A malformed one does not count.
    """
    merged: dict[str, str] = {}
    for selected in services:
        if selected and selected.items() <= labels.items():
            merged.update(selected)
    if isinstance(controller, Mapping):
        merged.update(controller)
    selector = compile_selector(label_selector(merged))
    if not isinstance(controller, LabelSelector):
        return selector
    try:
        more = compile_selector(controller)
    except MalformedSelector:
        return selector
    return Selector(requirements=selector.requirements + more.requirements)
