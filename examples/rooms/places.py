"""Where members of several processes meet, and how whoever runs them breaks it: a site in memory, or a real etcd."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

from aiohttp import web

from examples.rooms.etcd import EtcdServer
from examples.rooms.lines import Line
from examples.rooms.meeting import Meeting
from examples.rooms.settings import ETCD, MEMBER_TTL_S
from springtide.base.clock import Clock
from springtide.edge.store import MemorySite

HOST: Final = "127.0.0.1"


class Place(Protocol):
    """Where they meet."""

    async def way(self, member: str) -> str:
        """Return the URL by which a member goes there."""
        ...

    def cut(self, member: str, *, is_cut: bool) -> None:
        """Let a member not reach it, or reach it again."""
        ...

    def down(self, *, is_down: bool) -> None:
        """Let nobody reach it, or everybody again."""
        ...

    async def wipe(self) -> None:
        """Lose all that it holds."""
        ...


class InMemory:
    """A site in the memory of this process, served to the others."""

    def __init__(self, meeting: Meeting, url: str) -> None:
        self._meeting = meeting
        self._url = url

    async def way(self, member: str) -> str:
        """Return its URL, which is the same for all."""
        del member
        return self._url

    def cut(self, member: str, *, is_cut: bool) -> None:
        """Refuse a member, or not any more."""
        (self._meeting.cut.add if is_cut else self._meeting.cut.discard)(member)

    def down(self, *, is_down: bool) -> None:
        """Refuse everybody, or nobody any more."""
        self._meeting.site.is_down = is_down

    async def wipe(self) -> None:
        """Empty it."""
        self._meeting.site.wipe()


class InEtcd:
    """An etcd as a process, which each member reaches by a line of its own."""

    def __init__(self, server: EtcdServer) -> None:
        self._server = server
        self._lines: dict[str, Line] = {}
        self._is_down = False
        self._cut: set[str] = set()

    async def way(self, member: str) -> str:
        """Return the URL of a member's line."""
        if member not in self._lines:
            self._lines[member] = Line(self._server.port)
            await self._lines[member].open()
            self._turn()
        return f"{ETCD}http://{HOST}:{self._lines[member].port}"

    def cut(self, member: str, *, is_cut: bool) -> None:
        """Let nothing pass on a member's line, or let it pass again."""
        (self._cut.add if is_cut else self._cut.discard)(member)
        self._turn()

    def down(self, *, is_down: bool) -> None:
        """Let nothing pass on any line, or let it pass again."""
        self._is_down = is_down
        self._turn()

    async def wipe(self) -> None:
        """Kill it, lose its disk, and start it again."""
        await self._server.wipe()

    async def close(self) -> None:
        """Close all lines."""
        for each in self._lines.values():
            await each.close()

    def _turn(self) -> None:
        for member, each in self._lines.items():
            each.turn(is_open=not self._is_down and member not in self._cut)


@asynccontextmanager
async def in_memory(clock: Clock) -> AsyncIterator[Place]:
    """Serve a site as long as the block."""
    meeting = Meeting(MemorySite(clock, member_ttl_s=MEMBER_TTL_S))
    application = web.Application()
    application.add_routes([web.post("/store", meeting.serve)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0).start()
        yield InMemory(meeting, f"http://{HOST}:{runner.addresses[0][1]}/store")
    finally:
        await runner.cleanup()


@asynccontextmanager
async def in_etcd(program: str, folder: Path) -> AsyncIterator[Place]:
    """Run an etcd as long as the block."""
    server = EtcdServer(program, folder)
    place = InEtcd(server)
    try:
        await server.start()
        yield place
    finally:
        await place.close()
        await server.close()
