"""Whom one node would have to lose for a pod: found by trying it on an overlay.

All pods of lower priority go; if that is not enough, nobody needs to. Then they come back as long as
the pod still fits, the more important ones first, and before them those that a budget protects. Who
cannot come back is a victim.
"""

from collections.abc import Iterable, Sequence

import msgspec

from springtide.engine.framework.nominated import Judge
from springtide.engine.preemption.budgets import parted
from springtide.model.disruption import DisruptionBudget
from springtide.model.ledger import Holding
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

# After every time that an API server writes.
_NOT_YET = "~"


class Victims(msgspec.Struct, frozen=True, kw_only=True):
    """The pods that a row would lose, the most important first, and how many break a budget."""

    row: int
    pods: tuple[Pod, ...]
    broken: int


def since(pod: Pod) -> str:
    """Return when the pod was started, as a text that sorts; one that was not comes last."""
    return pod.started or _NOT_YET


def importance(pod: Pod) -> tuple[int, str]:
    """Return what pods are sorted by: high priority first, then those that run for longer."""
    return -pod.spec.priority, since(pod)


def find_victims(
    judge: Judge, row: int, lower: Sequence[Pod], budgets: Sequence[DisruptionBudget]
) -> Victims | Refusal:
    """Return whom the row would lose of its pods of lower priority, or why that is no help."""
    overlay = judge.overlay
    with overlay.trial():
        gone = {pod.uid: overlay.release(pod.uid) for pod in lower}
        refusal = judge.refusal(row)
        if refusal is not None:
            return refusal
        protected, others = parted(sorted(lower, key=importance), budgets)
        broken = _staying_away(protected, gone, judge, overlay, row)
        victims = [*broken, *_staying_away(others, gone, judge, overlay, row)]
    return Victims(row=row, pods=tuple(sorted(victims, key=importance)), broken=len(broken))


def _staying_away(
    pods: Iterable[Pod], gone: dict[str, Holding], judge: Judge, overlay: Overlay, row: int
) -> list[Pod]:
    """Let the pods come back one by one, and return those that must not."""
    away: list[Pod] = []
    for pod in pods:
        overlay.hold(gone[pod.uid])
        if judge.refusal(row) is not None:
            overlay.release(pod.uid)
            away.append(pod)
    return away
