"""An autoscaler of Kubernetes (autoscaling/v2) over external metrics, pure: one round at a time.

It stands for the real controller where time is virtual. It knows what a workload has and what its metrics
came to, and says what the workload is to have; tests/e2e holds it against the real one.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from tests.standin.hpa_behavior import (
    DOWN_WINDOW_S,
    Behavior,
    Bounds,
    Memory,
    Restrained,
    highest,
    limited,
    noted,
    scaled,
    steadied,
    unrestrained,
)
from tests.standin.hpa_maths import Items, Metric, Scale, Tolerance, combined, proposal

VALID: Final = "ValidMetricFound"
AMBIGUOUS: Final = "AmbiguousSelector"
DISABLED: Final = "ScalingDisabled"


class Autoscaler(msgspec.Struct, frozen=True, kw_only=True):
    """Its specification, and the two flags of the controller that it goes by where it says nothing."""

    metrics: tuple[Metric, ...]
    bounds: Bounds
    behavior: Behavior | None = None
    tolerance: Tolerance = Tolerance()
    down_window_s: float = DOWN_WINDOW_S


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a round came to: replicas to be written if they differ, and the condition ScalingActive.

    `reason` is that of the condition, empty where a round says nothing about it; `limit` is what held it.
    """

    replicas: int
    is_active: bool = True
    reason: str = ""
    limit: str = ""
    is_failed: bool = False


def round_of(
    autoscaler: Autoscaler,
    memory: Memory,
    *,
    scale: Scale,
    answers: Sequence[Items | None],
    now_s: float,
) -> tuple[Memory, Outcome]:
    """Return what one round decides, and what is remembered of it; `answers` are by metric."""
    wanted, bounds = scale.wanted, autoscaler.bounds
    if not memory.proposed:
        memory = noted(memory, wanted, now_s=now_s)
    if scale.autoscalers > 1:
        return memory, Outcome(replicas=wanted, is_active=False, reason=AMBIGUOUS, is_failed=True)
    if wanted == 0 and bounds.least != 0:
        return memory, Outcome(replicas=0, is_active=False, reason=DISABLED)
    if not bounds.least <= wanted <= bounds.most:
        # No metric is asked for and nothing is waited for: a maximum that is lowered counts at once.
        bound = bounds.most if wanted > bounds.most else bounds.least
        return _changed(autoscaler, memory, Outcome(replicas=bound), wanted=wanted, now_s=now_s)
    proposals = [
        proposal(metric, items, scale=scale, tolerance=autoscaler.tolerance)
        for metric, items in zip(autoscaler.metrics, answers, strict=True)
    ]
    found = combined(proposals, wanted=wanted)
    if found.replicas is None:
        return memory, Outcome(
            replicas=wanted, is_active=False, reason=found.reason, is_failed=True
        )
    memory, (replicas, limit) = _restrained(
        autoscaler, memory, found.replicas, wanted=wanted, now_s=now_s
    )
    outcome = Outcome(replicas=replicas, reason=VALID, limit=limit, is_failed=bool(found.reason))
    return _changed(autoscaler, memory, outcome, wanted=wanted, now_s=now_s)


def _restrained(
    autoscaler: Autoscaler, memory: Memory, replicas: int, *, wanted: int, now_s: float
) -> tuple[Memory, Restrained]:
    """Return what windows, policies and bounds leave of a proposal, which is remembered as it was."""
    after, behavior = noted(memory, replicas, now_s=now_s), autoscaler.behavior
    if behavior is None:
        window_s = autoscaler.down_window_s
        steady = highest(memory, replicas, window_s=window_s, now_s=now_s)
        return after, unrestrained(steady, wanted=wanted, bounds=autoscaler.bounds)
    steady = steadied(memory, replicas, wanted=wanted, behavior=behavior, now_s=now_s)
    held = limited(
        memory,
        steady,
        wanted=wanted,
        behavior=behavior,
        bounds=autoscaler.bounds,
        now_s=now_s,
    )
    return after, held


def _changed(
    autoscaler: Autoscaler, memory: Memory, outcome: Outcome, *, wanted: int, now_s: float
) -> tuple[Memory, Outcome]:
    """Remember a change, if one is to be written and policies look at it."""
    change = outcome.replicas - wanted
    if change and autoscaler.behavior is not None:
        memory = scaled(memory, change, now_s=now_s)
    return memory, outcome


def rounds_of(
    autoscaler: Autoscaler,
    scale: Scale,
    answers: Sequence[Items | None],
    *,
    seconds: int = 120,
) -> list[int]:
    """Return each number that is written in a while of a round a second, where nothing else changes."""
    memory, written = Memory(), [scale.wanted]
    for now_s in range(seconds):
        now = msgspec.structs.replace(scale, wanted=written[-1])
        memory, outcome = round_of(
            autoscaler, memory, scale=now, answers=answers, now_s=float(now_s)
        )
        if outcome.replicas != written[-1]:
            written.append(outcome.replicas)
    return written
