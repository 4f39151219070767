"""The book of a member together with its journal: written down first, then so."""

import asyncio

from examples.rooms.book import Book, Given, Kept, Line, Taken
from examples.rooms.world import Journal
from springtide.replicas.migration import InFlight


class Holding:
    """What one member holds, and who waits for it to change."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._moved = asyncio.Event()
        self.book = Book()
        self.requests = InFlight()
        self.offering: set[tuple[str, str]] = set()
        """Rooms that are being offered, and to whom."""
        for line in journal.lines():
            self.book.apply(line)
        self.has_restored = self.book.owned > 0

    def write(self, line: Line) -> None:
        """Write a line down and take it."""
        self._journal.append(line)
        self.book.apply(line)
        if isinstance(line, Given | Kept | Taken):
            self._moved.set()
            self._moved = asyncio.Event()

    async def moved(self, *, timeout_s: float) -> None:
        """Wait until any room came or went, or for so long."""
        moved = self._moved
        try:
            async with asyncio.timeout(timeout_s):
                await moved.wait()
        except TimeoutError:
            pass
