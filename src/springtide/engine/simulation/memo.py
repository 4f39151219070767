"""What was worked out from equal content before: bounded, and never a source of truth.

A memo is asked by the whole content that decides about its values, so that an answer found in it is the
answer that would be worked out anew. What has not been asked for lately is forgotten: values of the last
generation are kept, and those of the one before that are met again.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
MadeT = TypeVar("MadeT")


class Memo(Generic[KeyT, MadeT]):
    """Values by the content that they were made from, of at most so much weight together."""

    __slots__ = ("_generation_max", "_old", "_weight", "_young", "misses")

    def __init__(self, *, weight_max: int) -> None:
        self.misses = 0
        self._generation_max = weight_max // 2
        self._weight = 0
        self._young: dict[KeyT, tuple[MadeT, int]] = {}
        self._old: dict[KeyT, tuple[MadeT, int]] = {}

    def __len__(self) -> int:
        """Return how many values are remembered."""
        return len(self._young.keys() | self._old.keys())

    def get(self, key: KeyT) -> MadeT | None:
        """Return what was made from this content, None if it is not known."""
        known = self._young.get(key)
        if known is not None:
            return known[0]
        known = self._old.get(key)
        if known is None:
            self.misses += 1
            return None
        return self.put(key, known[0], weight=known[1])

    def put(self, key: KeyT, made: MadeT, *, weight: int) -> MadeT:
        """Remember a value of this weight, and let a generation go where there is no room."""
        if self._weight + weight > self._generation_max:
            self._old, self._young, self._weight = self._young, {}, 0
        if weight <= self._generation_max:
            self._young[key] = made, weight
            self._weight += weight
        return made
