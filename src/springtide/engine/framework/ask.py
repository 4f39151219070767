"""What the framework is asked: everything about a pod that some rule may read.

Equal asks get equal verdicts, so a table of verdicts is kept once an ask, not once a pod.
"""

from collections.abc import Iterable

import msgspec

from springtide.base.selectors import Selector
from springtide.model.neighbours import ALONE
from springtide.model.pod import Pod, PodSpec
from springtide.model.presence import read_labels


class PodAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """One pod as the rules see it. `namespace` and `labels` are empty where no rule reads them.

    `default_selector` is what the pod's services and its controller select it by; only constraints
    that a profile spreads all pods by read it.
    """

    spec: PodSpec
    node_name: str = ""
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    default_selector: Selector | None = None


def ask_of(pod: Pod, *, with_identity: bool = False, keys: frozenset[str] | None = None) -> PodAsk:
    """Return what the pod asks; its namespace and labels only count if some rule reads them.

    `keys` are the labels that rules read, None stands for all.
    """
    if not with_identity:
        return PodAsk(spec=pod.spec, node_name=pod.node_name)
    return PodAsk(
        spec=pod.spec,
        node_name=pod.node_name,
        namespace=pod.namespace,
        labels=read_labels(pod, keys),
    )


def keys_read(specs: Iterable[PodSpec]) -> frozenset[str] | None:
    """Return which labels of pods the rules between pods of these specs read, None without rules."""
    asked = {id(spec.neighbours): spec.neighbours for spec in specs if spec.neighbours is not ALONE}
    excluding = [each for each in asked.values() if each.may_exclude]
    if not excluding:
        return None
    return frozenset(key for each in excluding for key in each.label_keys())


def reads_others(specs: Iterable[PodSpec]) -> bool:
    """Return whether any pod of these specs has a rule that reads other pods."""
    return keys_read(specs) is not None
