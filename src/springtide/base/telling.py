"""What may be told beside the answer, and from which level of verbosity on.

The levels are kubectl's. Whoever tells gives an event's name in snake_case and facts by name; how
they are printed, and whether at all, is the business of the command. No secrets are told.
"""

from enum import IntEnum
from typing import Protocol


class Level(IntEnum):
    """How much somebody wants to be told, at least, to be told this."""

    DECISION = 2
    DEBUG = 4
    REQUEST = 6
    BODY = 8


class Tell(Protocol):
    """Takes one event and its facts."""

    def __call__(self, level: Level, event: str, **facts: str | float) -> None:
        """Tell it to whoever wants to know so much."""
        ...

    def hears(self, level: Level) -> bool:
        """Return whether anybody does, so that facts that take work are made only then."""
        ...


class Untold:
    """Nobody wants to know."""

    def __call__(self, level: Level, event: str, **facts: str | float) -> None:
        """Keep it."""

    def hears(self, level: Level) -> bool:
        """Return that nobody does."""
        del level
        return False
