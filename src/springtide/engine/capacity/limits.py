"""How many nodes an estimate may add, and for how long it may search.

Cluster Autoscaler's rule for both bounds: negative forbids, 0 does not bound, positive bounds; of
two bounds the tighter one holds.
"""

from collections.abc import Iterable

import msgspec

from springtide.base.clock import Clock


class Threshold(msgspec.Struct, frozen=True, gc=False):
    """One source's bound on new nodes and on seconds of search."""

    nodes: int = 0
    duration_s: float = 0.0


def headroom(room: Iterable[tuple[int, int]]) -> Threshold:
    """Return the bound set by group sizes (maximum, current): nothing left forbids any node."""
    left = sum(max(0, maximum - current) for maximum, current in room)
    return Threshold(nodes=left if left > 0 else -1)


def cluster_room(total_max: int, count: int) -> Threshold:
    """Return the bound set by the largest number of nodes the cluster may have (0: any)."""
    if total_max == 0:
        return Threshold()
    left = total_max - count
    return Threshold(nodes=left if left > 0 else -1)


def tightest(one: float, other: float) -> float:
    """Return the tighter of two bounds."""
    if one < 0 or other < 0:
        return -1
    if one == 0 or other == 0:
        return max(one, other)
    return min(one, other)


class Limiter:
    """Grants new nodes, one at a time or many at once, until a bound is reached."""

    def __init__(self, thresholds: Iterable[Threshold], clock: Clock) -> None:
        self._nodes_max = 0
        self._duration_s_max = 0.0
        for threshold in thresholds:
            self._nodes_max = int(tightest(self._nodes_max, threshold.nodes))
            self._duration_s_max = tightest(self._duration_s_max, threshold.duration_s)
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Start over: nothing granted, the time begins now."""
        self.granted = 0
        self._started_s = self._clock.monotonic_s()

    def permit(self, wanted: int = 1) -> int:
        """Grant up to this many further nodes and return how many were granted."""
        if self._nodes_max < 0 or self._is_late():
            return 0
        left = wanted if self._nodes_max == 0 else max(0, self._nodes_max - self.granted)
        granted = min(wanted, left)
        self.granted += granted
        return granted

    def _is_late(self) -> bool:
        limit = self._duration_s_max
        return limit < 0 or (limit > 0 and self._clock.monotonic_s() - self._started_s > limit)
