"""Tolerations that would let the pod onto nodes that keep it away, and nodes that may come back.

The taints that Kubernetes puts on nodes in trouble are nothing to tolerate: there it is the node
that has to change.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.taints import REPELLING_EFFECTS, Taint, Toleration, tolerates
from springtide.engine.explain.changes import Change, ChangeKind
from springtide.engine.explain.trial import Trial
from springtide.engine.framework.node_unschedulable import UNSCHEDULABLE
from springtide.model.node import Node
from springtide.model.pod import Pod

TROUBLE: Final = "node.kubernetes.io/"
_ALL: Final = Toleration(operator="Exists")

Missing = frozenset[Taint]


class _Way(msgspec.Struct, frozen=True):
    """Taints to tolerate, and the rows that may take the pod then."""

    missing: Missing
    rows: list[int]


def tolerated(pod: Pod, trial: Trial) -> Iterator[Change]:
    """Yield the fewest tolerations that help, and the node that is nearest to being well again."""
    ways = _ways(pod, trial)
    for is_trouble in (False, True):
        found = (_change(pod, way, trial) for way in ways if _is_trouble(way.missing) is is_trouble)
        change = next((each for each in found if each is not None), None)
        if change is not None:
            yield change


def _ways(pod: Pod, trial: Trial) -> list[_Way]:
    """Return the sets of taints that keep the pod from a node that is well otherwise, small first."""
    by_taints: dict[Missing, list[int]] = {}
    for row in trial.candidates(_tolerating(pod, (_ALL,))).tolist():
        missing = _missing(pod, trial.tables.ledger.nodes[row])
        by_taints.setdefault(missing, []).append(row)
    ways = [_Way(missing, rows) for missing, rows in by_taints.items() if missing]
    return sorted(ways, key=lambda way: len(way.missing))


def _missing(pod: Pod, node: Node) -> Missing:
    cordon = replace(node, taints=(UNSCHEDULABLE,)) if node.is_unschedulable else None
    tolerations = pod.spec.tolerations
    missing = untolerated(node, tolerations)
    return frozenset((*missing, *(untolerated(cordon, tolerations) if cordon else ())))


def untolerated(node: Node, tolerations: Sequence[Toleration]) -> list[Taint]:
    """Return the taints of a node that keep away whoever has these tolerations."""
    return [
        taint
        for taint in node.taints
        if taint.effect in REPELLING_EFFECTS
        and not any(tolerates(toleration, taint) for toleration in tolerations)
    ]


def _is_trouble(missing: Missing) -> bool:
    return any(taint.key.startswith(TROUBLE) for taint in missing)


def _tolerating(pod: Pod, more: tuple[Toleration, ...]) -> Pod:
    spec = replace(pod.spec, tolerations=(*pod.spec.tolerations, *more))
    return replace(pod, spec=spec)


def _change(pod: Pod, way: _Way, trial: Trial) -> Change | None:
    taints = sorted(way.missing, key=lambda taint: (taint.key, taint.value, taint.effect))
    changed = _tolerating(pod, tuple(map(_toleration, taints)))
    row = next((row for row in way.rows if trial.takes(changed, row)), None)
    if row is None:
        return None
    names = " and ".join(map(written, taints))
    is_trouble = _is_trouble(way.missing)
    node = trial.name(row)
    return Change(
        kind=ChangeKind.RESTORE_NODE if is_trouble else ChangeKind.ADD_TOLERATION,
        text=_restoring(node, taints) if is_trouble else f"tolerate the taint {names}",
        subject=node if is_trouble else names,
        node=node,
        pod=changed,
        size=float(len(taints)),
    )


def _restoring(node: str, taints: list[Taint]) -> str:
    if all(taint.key == UNSCHEDULABLE.key for taint in taints):
        return f"uncordon node {node}"
    names = " and ".join(map(written, taints))
    return f"bring node {node} back, which is tainted {names}"


def _toleration(taint: Taint) -> Toleration:
    return Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)


def written(taint: Taint) -> str:
    """Return a taint as people write it."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"
