"""How an autoscaler of Kubernetes makes a number of replicas of external metrics: sums, ratios, tolerance.

Numbers are in thousandths and ratios are floats, as there, so that edges fall the same way.
"""

import math
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

MILLI: Final = 1000
INT32_MAX: Final = (1 << 31) - 1
TOLERANCE: Final = 0.1
"""Unless the cluster or the autoscaler says otherwise."""

Items = Sequence[int]
"""What a metric came to, in thousandths; several items are summed."""


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """What a workload should have, has, and has ready; `autoscalers` is how many select its pods."""

    wanted: int
    there: int
    ready: int = 0
    autoscalers: int = 1


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One external metric of an autoscaler, and what it aims at."""

    name: str
    kind: Literal["AverageValue", "Value"] = "AverageValue"
    target_milli: int = MILLI


class Tolerance(msgspec.Struct, frozen=True, kw_only=True):
    """How far a ratio may be from 1 without anything following."""

    up: float = TOLERANCE
    down: float = TOLERANCE

    def covers(self, ratio: float) -> bool:
        """Return whether nothing follows from a ratio."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


EXACT: Final = Tolerance(up=0.0, down=0.0)


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What the metrics come to together: none where the whole round fails; `reason` is of the first fault."""

    replicas: int | None
    reason: str = ""


FAILED: Final = "FailedGetExternalMetric"


def proposal(
    metric: Metric, items: Items | None, *, scale: Scale, tolerance: Tolerance
) -> int | None:
    """Return what one metric proposes, None if it has no answer; an empty one is none."""
    if not items:
        return None
    total = sum(items)
    if metric.kind == "Value":
        return _by_value(total / metric.target_milli, scale, tolerance)
    if tolerance.covers(_share(total, metric.target_milli * scale.there)):
        return scale.there
    return _capped(total / metric.target_milli)


def combined(proposals: Sequence[int | None], *, wanted: int) -> Proposal:
    """Return the largest proposal; with a fault among them, only if it does not shrink the workload."""
    known = [each for each in proposals if each is not None]
    reason = FAILED if len(known) < len(proposals) else ""
    best = max(known, default=None)
    if best is None or (reason and best < wanted):
        return Proposal(replicas=None, reason=reason)
    return Proposal(replicas=best, reason=reason)


def _by_value(ratio: float, scale: Scale, tolerance: Tolerance) -> int:
    if scale.wanted == 0:
        return _capped(ratio)
    return scale.wanted if tolerance.covers(ratio) else _capped(ratio * scale.ready)


def _share(total: int, divisor: int) -> float:
    """Return a quotient as floats have it: something of nothing is without bounds."""
    if divisor:
        return total / divisor
    return math.inf if total else math.nan


def _capped(replicas: float) -> int:
    return min(math.ceil(replicas), INT32_MAX)
