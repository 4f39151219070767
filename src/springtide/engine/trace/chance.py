"""Chance for traces: a generator that gives the same numbers for ever, on every machine.

SplitMix64 (Steele, Lea and Flood, 2014): a counter in steps of a fixed odd number, each value mixed. A
seed has several streams, so that drawing more of one thing moves nothing else: the order of pods, the
clones, the ranks of nodes and what a policy draws are independent. Numbers below a bound are the high
half of a product (Lemire, 2019), with rejection, so that each is equally likely. Libraries promise
stable raw numbers at best, not stable shuffles; results that are to be compared over years need both.
"""

from collections.abc import MutableSequence
from enum import IntEnum
from typing import Final, TypeVar

_MASK: Final = 2**64 - 1
_STEP: Final = 0x9E3779B97F4A7C15
_MIX: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))

ItemT = TypeVar("ItemT")


class Stream(IntEnum):
    """What numbers are drawn for."""

    ORDER = 1
    TUNING = 2
    RANKS = 3
    POLICY = 4


class Chance:
    """A seeded source; an `Rng`."""

    __slots__ = ("_counter",)

    def __init__(self, seed: int, stream: Stream) -> None:
        self._counter = _mixed((seed + _STEP * stream) & _MASK)

    def choice_index(self, count: int) -> int:
        """Return one of the indices 0 to count - 1; count is at least 1."""
        assert count > 0
        rejected = (2**64 - count) % count
        while True:
            product = self._next() * count
            if product & _MASK >= rejected:
                return product >> 64

    def shuffle(self, items: MutableSequence[ItemT]) -> None:
        """Put the items into an order of which each is equally likely (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.choice_index(last + 1)
            items[last], items[other] = items[other], items[last]

    def _next(self) -> int:
        self._counter = (self._counter + _STEP) & _MASK
        return _mixed(self._counter)


def _mixed(number: int) -> int:
    for shift, factor in _MIX:
        number = (number ^ (number >> shift)) * factor & _MASK
    return number ^ (number >> 31)
