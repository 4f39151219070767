"""The site in memory, in virtual time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from springtide.edge.store import CONFIRM_S, MemorySite, MemoryStore, Store
from springtide.wire.errors import MalformedObject
from springtide.wire.replica_status import read_status
from tests.contract.stores import Traits, World
from tests.virtual import LoopClock, run


class InMemory:
    """A `Site` over a MemorySite."""

    def __init__(self) -> None:
        self._site = MemorySite(LoopClock())
        self._stores: dict[str, list[MemoryStore]] = {}
        self._cut: set[str] = set()
        self.traits = Traits(
            patience_s=120.0,
            member_ttl_s=self._site.member_ttl_s,
            lock_ttl_ms=15_000,
            confirm_s=CONFIRM_S,
        )

    async def store(self, name: str) -> Store:
        """Return a store for the member of this name."""
        made = MemoryStore(self._site)
        made.is_cut = name in self._cut
        self._stores.setdefault(name, []).append(made)
        return made

    async def kill(self, name: str) -> None:
        """Nobody keeps it alive any more."""

    async def cut(self, name: str) -> None:
        """Let it reach nothing."""
        self._cut.add(name)
        self._set_cut(name)

    async def heal(self, name: str) -> None:
        """Let it in again."""
        self._cut.discard(name)
        self._set_cut(name)

    async def stop(self) -> None:
        """Answer nobody."""
        self._site.is_down = True

    async def start(self) -> None:
        """Answer again."""
        self._site.is_down = False

    async def wipe(self) -> None:
        """Lose everything."""
        self._site.wipe()

    async def compact(self) -> bool:
        """Return that it remembers nothing anyway."""
        return False

    async def damage(self, text: bytes) -> None:
        """Write it in the status' place."""
        try:
            found = read_status(text)
        except MalformedObject as fault:
            self._site.damage(str(fault))
        else:
            self._site.replace(found)

    async def erase(self) -> None:
        """Delete the status."""
        self._site.replace(None)

    async def writes(self) -> int:
        """Return its revision."""
        return self._site.revision

    def _set_cut(self, name: str) -> None:
        for store in self._stores.get(name, []):
            store.is_cut = name in self._cut


@asynccontextmanager
async def _site(_: Path) -> AsyncIterator[InMemory]:
    yield InMemory()


MEMORY = World(name="memory", site=_site, run=run)
