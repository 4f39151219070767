"""By what a pod is selected: the pods that a profile's default spread counts beside it.

The labels that the pod's services select by, together with the selector of its controller. A pod
that nothing selects is not spread by default.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from springtide.base.selectors import (
    LabelSelector,
    MalformedSelector,
    Selector,
    compile_selector,
    label_selector,
)
from springtide.model.pod import Pod
from springtide.model.selecting import Selecting
from springtide.model.workload import HASH_LABEL

Controller = LabelSelector | Mapping[str, str]


class DefaultSelectors:
    """Says by what pods are selected that the default constraints of their scheduler spread.

    `schedulers` names those that have such constraints. Replicas are answered once.
    """

    def __init__(self, known: Selecting, schedulers: frozenset[str]) -> None:
        self._known = known
        self._schedulers = schedulers
        self._found: dict[tuple[object, ...], Selector | None] = {}

    def of(self, pod: Pod) -> Selector | None:
        """Return the selector, None if the pod has constraints of its own or nothing selects it."""
        if pod.spec.scheduler_name not in self._schedulers or pod.spec.neighbours.spread:
            return None
        key = (pod.namespace, pod.owner, frozenset(pod.labels.items()))
        if key not in self._found:
            found = selector_of(pod, self._known)
            self._found[key] = None if found.is_empty else found
        return self._found[key]


def selector_of(pod: Pod, known: Selecting) -> Selector:
    """Return what the services and the controller of the pod select it by; empty if nothing does."""
    services = known.services.get(pod.namespace, ())
    return default_selector(pod.labels, services, controller=_controller(pod, known))


def _controller(pod: Pod, known: Selecting) -> Controller | None:
    """Return what the pod's controller selects by, None where that is not known."""
    owner = pod.owner
    if owner is None:
        return None
    found = known.controllers.get((owner.kind, pod.namespace, owner.name))
    suffix = f"-{pod.labels.get(HASH_LABEL, '')}"
    if found is not None or owner.kind != "ReplicaSet" or not owner.name.endswith(suffix):
        return found
    # A dump often lacks the replica sets; a deployment's selects by one label more than it does.
    name = owner.name.removesuffix(suffix)
    deployed = known.controllers.get(("Deployment", pod.namespace, name))
    if not isinstance(deployed, LabelSelector):
        return None
    own = (HASH_LABEL, pod.labels.get(HASH_LABEL, ""))
    return replace(deployed, match_labels=(*deployed.match_labels, own))


def default_selector(
    labels: Mapping[str, str],
    services: Iterable[Mapping[str, str]],
    *,
    controller: Controller | None = None,
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
