"""The two things a decision may not fetch for itself: the time and chance.

Shells pass a real clock and a real source; simulations and tests pass virtual, seeded ones, which is
why a recorded story replays to the same bytes.
"""

from typing import Protocol


class Clock(Protocol):
    """Tells how much time has passed; only differences between two readings mean anything."""

    def monotonic_s(self) -> float:
        """Return seconds that never run backwards."""
        ...


class Calendar(Protocol):
    """Tells what time it is, as people and other machines count it."""

    def unix_s(self) -> float:
        """Return the seconds since 1970 in UTC; they may jump, also backwards."""
        ...


class Rng(Protocol):
    """Breaks ties where any choice is right."""

    def choice_index(self, count: int) -> int:
        """Return one of the indices 0 to count - 1; count is at least 1."""
        ...
