"""Changes that would let a pod fit, and which of two is the smaller.

A change that only says where the pod may run is smaller than one that gives it less, that is smaller
than a larger quota, that is smaller than one that costs other pods their place, and that is smaller than
one more node. Giving up more
than half of an amount makes another workload of it, so that comes last. Among equals the size
decides: how many terms, which part of the amount is given up, how many pods, how many nodes.
"""

from enum import StrEnum
from typing import Final

import msgspec

from springtide.model.pod import Pod


class ChangeKind(StrEnum):
    """What is changed. Public API: programs match these words."""

    LIFT_GATES = "LiftGates"
    ADD_TOLERATION = "AddToleration"
    DROP_NODE_SELECTOR = "DropNodeSelector"
    DROP_AFFINITY = "DropAffinity"
    DROP_ANNOTATION = "DropAnnotation"
    DROP_HOST_PORT = "DropHostPort"
    RESTORE_NODE = "RestoreNode"
    ASK_LESS = "AskLess"
    RAISE_QUOTA = "RaiseQuota"
    FREE_PODS = "FreePods"
    ADD_NODE = "AddNode"


_WHERE: Final = 0
_LESS: Final = 1
_QUOTA: Final = 2
_OTHERS: Final = 3
_NODES: Final = 4
_ANOTHER: Final = 5
HALF: Final = 0.5
_TIERS: Final = {
    ChangeKind.LIFT_GATES: _WHERE,
    ChangeKind.ADD_TOLERATION: _WHERE,
    ChangeKind.DROP_NODE_SELECTOR: _WHERE,
    ChangeKind.DROP_AFFINITY: _WHERE,
    ChangeKind.DROP_ANNOTATION: _WHERE,
    ChangeKind.DROP_HOST_PORT: _WHERE,
    ChangeKind.RESTORE_NODE: _WHERE,
    ChangeKind.ASK_LESS: _LESS,
    ChangeKind.RAISE_QUOTA: _QUOTA,
    ChangeKind.FREE_PODS: _OTHERS,
    ChangeKind.ADD_NODE: _NODES,
}


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One change, as a sentence part in the imperative.

    `subject` is what is changed (a resource, a taint, a label, an annotation, a node, a group), from
    `before` to `after`, empty where it is there or not. `node` is one that takes the pod then, or
    would be made. `pods` are those that go. `pod` is the pod as changed, None if it is not the pod
    that changes. `size` compares changes of one tier.
    """

    kind: ChangeKind
    text: str
    subject: str
    before: str = ""
    after: str = ""
    node: str
    pods: tuple[Pod, ...] = ()
    pod: Pod | None = None
    size: float = 1.0


def smallest_first(changes: list[Change]) -> tuple[Change, ...]:
    """Return the changes in the order of their size; equals stay in the order in which they come."""
    return tuple(sorted(changes, key=lambda change: (_tier(change), change.size)))


def _tier(change: Change) -> int:
    if change.kind is ChangeKind.ASK_LESS and change.size > HALF:
        return _ANOTHER
    return _TIERS[change.kind]
