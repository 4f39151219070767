"""Which folders of values a member wants to be told of, and that it wants others by now."""

import asyncio
from collections.abc import Set

from springtide.model.replicas.values import Folder


class Looking:
    """What one member looks at; followers read it, and wait until it is something else."""

    def __init__(self) -> None:
        self.folders: frozenset[Folder] = frozenset()
        self._other = asyncio.Event()

    def at(self, folders: Set[Folder]) -> None:
        """Look at these from now on."""
        if frozenset(folders) != self.folders:
            self.folders = frozenset(folders)
            woken, self._other = self._other, asyncio.Event()
            woken.set()

    async def until_other(self, than: Set[Folder]) -> None:
        """Wait until it is at others than these."""
        while self.folders == than:
            await self._other.wait()
