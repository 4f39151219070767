"""What was worked out lately about one ledger, so that equal parts of different asks share it.

Pods that ask for different resources often have the same tolerations and the same affinity.
"""

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

RECENT_MAX: Final = 1024

KeyT = TypeVar("KeyT", bound=Hashable)
MadeT = TypeVar("MadeT")


class Recent(Generic[KeyT, MadeT]):
    """Things made from a key for the owner seen last; forgotten with it, or when there are many."""

    __slots__ = ("_made", "_owner")

    def __init__(self) -> None:
        self._owner: object = None
        self._made: dict[KeyT, MadeT] = {}

    def get(self, owner: object, key: KeyT, make: Callable[[], MadeT]) -> MadeT:
        """Return what was made from this key for this very owner, now if it is the first time."""
        if owner is not self._owner or len(self._made) >= RECENT_MAX:
            self._owner = owner
            self._made = {}
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = make()
        return made
