"""How whoever does long work says how far it is, without knowing who looks on.

The core calls it wherever something is done and never waits for it. Whoever looks on decides what
to show of it and how often; nothing that is told may change an answer.
"""

from typing import Protocol


class Progress(Protocol):
    """Is told what is being done; called often, so it costs no more than a note."""

    def begin(self, doing: str) -> None:
        """Note what is being done from now on, as in `Planning: step 3`."""
        ...

    def placed(self, done: int, total: int) -> None:
        """Note how many of the pods have a place by now."""
        ...


class Unwatched:
    """Nobody looks on."""

    def begin(self, doing: str) -> None:
        """Forget it."""

    def placed(self, done: int, total: int) -> None:
        """Forget it."""
