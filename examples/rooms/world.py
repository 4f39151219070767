"""What a member needs of the world around it; processes and virtual time give the same."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from examples.rooms.book import Line
from examples.rooms.messages import Answer, Message
from springtide.base.clock import Calendar, Clock
from springtide.base.errors import SpringtideError
from springtide.edge.lines import Log
from springtide.edge.store import Store
from springtide.replicas import Metrics


class Unreached(SpringtideError):
    """No answer came: what was asked may have been done or not."""


class Peers(Protocol):
    """The way to other members."""

    async def ask(self, address: str, message: Message, *, timeout_s: float) -> Answer:
        """Return the answer, or raise Unreached."""
        ...


class Journal(Protocol):
    """Where a member writes down what must outlive it."""

    def lines(self) -> list[Line]:
        """Return what was written, from the first line on."""
        ...

    def append(self, line: Line) -> None:
        """Write a line; it outlives this process when this returns."""
        ...


class World(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    store: Store
    clock: Clock
    calendar: Calendar
    log: Log
    journal: Journal
    peers: Peers
    metrics: Metrics
    drawn_permille: Callable[[], int] | None = None
    """Chance, where it is to be repeated."""
