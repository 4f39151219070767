"""How many replicas metrics ask for, computed naively: by counting up, not by dividing."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

MOST = 2**31 - 1


class Metric(NamedTuple):
    """One metric: totals for both ways, None where unknown, and thresholds, zero where unused."""

    up_total: Decimal | None
    down_total: Decimal | None
    up_per_replica: int
    down_per_replica: int
    is_required: bool


def replicas_for(total: Decimal, per_replica: int) -> int:
    """Return the first count, from one on, whose replicas carry the total together."""
    count = 1
    while count * per_replica < total:
        count += 1
    return count


def wanted(metrics: Sequence[Metric], expect: int) -> int:
    """Return what is asked for, before steps, bounds and windows."""
    ups = [
        replicas_for(each.up_total, each.up_per_replica)
        for each in metrics
        if each.up_per_replica and each.up_total is not None
    ]
    if ups and max(ups) > expect:
        return max(ups)
    shrinking = [each for each in metrics if each.down_per_replica]
    known = [each for each in shrinking if each.down_total is not None]
    if not known or any(each.is_required and each.down_total is None for each in shrinking):
        return expect
    downs = [
        replicas_for(each.down_total, each.down_per_replica)
        for each in known
        if each.down_total is not None
    ]
    return min(expect, max(ups + downs))


def calmed(asked: Sequence[tuple[int, int]], expect: int, up_ms: int, down_ms: int) -> int:
    """Return what the windows let through of numbers by their times, of which the last is now."""
    now_ms, raw = asked[-1]
    in_up = [number for at_ms, number in asked if now_ms - at_ms < up_ms] or [raw]
    in_down = [number for at_ms, number in asked if now_ms - at_ms < down_ms] or [raw]
    if expect < min(in_up):
        return min(in_up)
    return min(expect, max(in_down))
