"""The numbers and names behind the refusals of the scheduler's own rules, as sentences."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from springtide.base.names import PODS
from springtide.engine.capacity.shortage import shown
from springtide.engine.explain.tolerating import untolerated, written
from springtide.engine.explain.words import joined
from springtide.engine.framework.node_resources_fit import TOO_MANY_PODS
from springtide.engine.placement.classes import PodClass
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.refusal import Refusal

_SHORT: Final = "Insufficient "
_ENFORCED: Final = "node(s) didn't match scheduler-enforced node affinity"
_NODES_MAX: Final = 256
"""How many of the nodes that say the same are looked at for what they have instead."""


class _Case(msgspec.Struct, frozen=True):
    """Rows that refuse a class in the same words."""

    pod_class: PodClass
    refusal: Refusal
    ledger: Ledger
    rows: Sequence[int]

    @property
    def nodes(self) -> list[Node]:
        """Return some of the nodes."""
        return [self.ledger.nodes[row] for row in self.rows[:_NODES_MAX]]


def rule_sentence(
    pod_class: PodClass, refusal: Refusal, ledger: Ledger, rows: Sequence[int]
) -> str:
    """Return what these rows lack by the scheduler's rules, empty where the reason says it all."""
    tell = _SENTENCES.get(refusal.rule)
    return "" if tell is None else tell(_Case(pod_class, refusal, ledger, rows))


def _resources(case: _Case) -> str:
    return "; ".join(_resource(reason, case) for reason in case.refusal.reasons)


def _resource(reason: str, case: _Case) -> str:
    resources, rows = case.ledger.resources, list(case.rows)
    name = PODS if reason == TOO_MANY_PODS else reason.removeprefix(_SHORT)
    index = resources.known(name)
    if index is None:
        return f"no node has {name}"
    free = int((resources.allocatable[index, rows] - resources.used[index, rows]).max())
    most = int(resources.allocatable[index, rows].max())
    if name == PODS:
        return f"no room for another pod: {most} may run on a node, and as many do"
    asked = dict(case.pod_class.amounts).get(name, 0)
    if not most:
        return f"the node has no {name}, {shown(name, asked)} asked"
    return (
        f"{name}: largest free is {shown(name, max(free, 0))} of {shown(name, most)}, "
        f"{shown(name, asked)} asked"
    )


def _taints(case: _Case) -> str:
    tolerations = case.pod_class.framework.spec.tolerations
    names = sorted(
        {written(taint) for node in case.nodes for taint in untolerated(node, tolerations)}
    )
    return f"not tolerated: {joined(names)}"


def _affinity(case: _Case) -> str:
    spec = case.pod_class.framework.spec
    if _ENFORCED in case.refusal.reasons:
        return (
            f"the profile of scheduler {spec.scheduler_name} adds an affinity that it does not meet"
        )
    parts = [part for key, value in spec.node_selector if (part := _label(key, value, case))]
    if parts:
        return "; ".join(parts)
    return "the labels meet no term of the required node affinity"


def _label(key: str, value: str, case: _Case) -> str:
    present = {node.labels.get(key, "not set") for node in case.nodes} - {value}
    if not present:
        return ""
    return f"the pod wants {key}={value}; here it is {joined(sorted(present))}"


def _cordoned(_case: _Case) -> str:
    return "the node is cordoned; kubectl uncordon undoes that"


_SENTENCES: Final[Mapping[str, Callable[[_Case], str]]] = {
    "NodeResourcesFit": _resources,
    "TaintToleration": _taints,
    "NodeAffinity": _affinity,
    "NodeUnschedulable": _cordoned,
}
