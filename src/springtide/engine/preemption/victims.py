"""Whom nodes would have to lose for a pod: found by trying it on an overlay.

All pods of lower priority go; if that is not enough, nobody needs to. Then they come back as long as
the pod still fits, the more important ones first, and before them those that a budget protects. Who
cannot come back is a victim. Rows that do not see each other are tried together, step by step.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec
import numpy as np

from springtide.engine.framework.framework import PASSES, Verdicts
from springtide.engine.framework.rule import Rows
from springtide.engine.preemption.budgets import parted
from springtide.model.disruption import DisruptionBudget
from springtide.model.ledger import Holding
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

# After every time that an API server writes.
_NOT_YET = "~"


class Judging(Protocol):
    """Judges rows for one pod, on an overlay that changes between two questions."""

    @property
    def overlay(self) -> Overlay:
        """Return what is judged."""
        ...

    def verdicts_now(self, rows: Rows) -> Verdicts:
        """Return the verdicts over these rows as they are now."""
        ...

    def told(self, verdicts: Verdicts, index: int) -> Refusal | None:
        """Return the refusal that one of the verdicts stands for, None if it is none."""
        ...


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
    judge: Judging,
    lower: Sequence[tuple[int, Sequence[Pod]]],
    *,
    budgets: Sequence[DisruptionBudget],
) -> list[Victims | Refusal]:
    """Return whom each row would lose of its pods of lower priority, or why that is no help.

    There must be one row only, unless the judge says that rows do not see each other.
    """
    with judge.overlay.trial():
        trials = [_Trial(row, pods, judge.overlay) for row, pods in lower]
        verdicts = _judged(judge, trials)
        refusals = [judge.told(verdicts, index) for index in range(len(trials))]
        promising = [
            trial for trial, refusal in zip(trials, refusals, strict=True) if refusal is None
        ]
        for trial in promising:
            trial.line_up(budgets)
        while promising:
            promising = [trial for trial in promising if trial.let_next_back()]
            fits = _judged(judge, promising).rule == PASSES
            for trial, is_well in zip(promising, fits.tolist(), strict=True):
                if not is_well:
                    trial.send_away()
    return [
        trial.victims() if refusal is None else refusal
        for trial, refusal in zip(trials, refusals, strict=True)
    ]


def _judged(judge: Judging, trials: Sequence["_Trial"]) -> Verdicts:
    return judge.verdicts_now(np.array([trial.row for trial in trials], np.intp))


class _Trial:
    """One row without its pods of lower priority, which come back one by one."""

    def __init__(self, row: int, lower: Sequence[Pod], overlay: Overlay) -> None:
        self.row = row
        self._overlay = overlay
        self._lower = lower
        self._gone: dict[str, Holding] = {pod.uid: overlay.release(pod.uid) for pod in lower}
        self._line: Iterator[Pod] = iter(())
        self._last: Pod | None = None
        self._protected: frozenset[str] = frozenset()
        self._away: list[Pod] = []

    def line_up(self, budgets: Sequence[DisruptionBudget]) -> None:
        """Say in which order the pods may come back."""
        protected, others = parted(sorted(self._lower, key=importance), budgets)
        self._protected = frozenset(pod.uid for pod in protected)
        self._line = iter((*protected, *others))

    def let_next_back(self) -> bool:
        """Let the next pod come back, and return whether there was one."""
        self._last = next(self._line, None)
        if self._last is None:
            return False
        self._overlay.hold(self._gone[self._last.uid])
        return True

    def send_away(self) -> None:
        """Let the pod that came last be a victim."""
        assert self._last is not None
        self._overlay.release(self._last.uid)
        self._away.append(self._last)

    def victims(self) -> Victims:
        """Return who must not come back."""
        return Victims(
            row=self.row,
            pods=tuple(sorted(self._away, key=importance)),
            broken=sum(pod.uid in self._protected for pod in self._away),
        )
