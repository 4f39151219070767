"""Counters that the devices of a pool share, such as the slices of a partitioned device."""

from springtide.engine.dynamic_resources.pools import Candidate, Pool
from springtide.model.device_usage import PoolUse


class Counters:
    """What is left of one pool's counters while devices are chosen, in nano units."""

    __slots__ = ("_is_overdrawn", "_left")

    def __init__(self, pool: Pool, use: PoolUse) -> None:
        self._left = {name: dict(counters) for name, counters in pool.counters.items()}
        in_use = use.in_use
        for candidate in pool.candidates:
            if candidate.device.name in in_use:
                self.take(candidate)
        self._is_overdrawn = any(
            amount < 0 for counters in self._left.values() for amount in counters.values()
        )

    def allow(self, candidate: Candidate) -> bool:
        """Return whether enough is left for a device; nothing is if more is taken than there was."""
        return not self._is_overdrawn and all(
            self._left[use.name].get(counter, 0) >= amount.nano
            for use in candidate.device.consumes
            for counter, amount in use.counters
        )

    def take(self, candidate: Candidate, *, sign: int = 1) -> None:
        """Count what a device takes (sign 1), or take it off (sign -1)."""
        for use in candidate.device.consumes:
            left = self._left.setdefault(use.name, {})
            for counter, amount in use.counters:
                left[counter] = left.get(counter, 0) - sign * amount.nano
