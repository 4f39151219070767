"""A narrow place before a server: a proxy that can hold one chosen request, or the answer to it.

It ends TLS on both sides, looks at every request, and passes bytes on as they are. One is held as long
as a test wants: before the server has it, or when it is answered and the caller does not know yet.
"""

import asyncio
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import msgspec

from tests.apiserver import kubeconfig
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import Aside
from tests.e2e.rights import EXTENDER

CAUGHT_S: Final = 30.0
CHUNK_BYTES: Final = 64 << 10
_LENGTH: Final = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """Which request is held: its method, what its path has in it, and what its body has.

    With `is_answered` the server has done what it asks for by then.
    """

    method: str
    path: str
    says: str = ""
    is_answered: bool = False

    def picks(self, head: bytes, body: bytes) -> bool:
        """Return whether this is the request."""
        method, path = head.split(b" ", 2)[:2]
        is_there = self.path.encode() in path and self.says.encode() in body
        return method == self.method.encode() and is_there


class Hold:
    """The first request that a rule picks, from when it is caught until it is let go or dropped."""

    def __init__(self, rule: Rule, loop: asyncio.AbstractEventLoop) -> None:
        self.rule = rule
        self.is_dropped = False
        self.let = asyncio.Event()
        self._caught = threading.Event()
        self._loop = loop

    def catch(self) -> None:
        """Tell the test that it is held."""
        self._caught.set()

    def wait(self) -> None:
        """Wait until it is held."""
        assert self._caught.wait(CAUGHT_S), f"there was no such request: {self.rule}"

    def go(self) -> None:
        """Let it go on."""
        self._loop.call_soon_threadsafe(self.let.set)

    def drop(self) -> None:
        """Close its connections instead, as when the caller is gone."""
        self.is_dropped = True
        self.go()


class Chokepoint:
    """The proxy before a port; if that is the API server's, our extender's `kubeconfig` leads through it."""

    def __init__(self, plane: ControlPlane, aside: Aside, *, before: int) -> None:
        self._plane = plane
        self._aside = aside
        self._before = before
        self._holds: list[Hold] = []
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        plane.authority.issue_cert("127.0.0.1").configure_cert(context)
        serving = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self._server = aside.done(serving)
        self.port = port = int(self._server.sockets[0].getsockname()[1])
        self.kubeconfig = kubeconfig(
            plane.site.file(f"by-{port}.json"),
            f"https://127.0.0.1:{port}",
            user={"token": f"{EXTENDER}-token"},
            cluster={"certificate-authority": str(plane.site.file("ca.pem"))},
        )

    def hold(self, rule: Rule) -> Hold:
        """Hold the next request that a rule picks."""
        hold = Hold(rule, self._aside.loop)
        self._holds.append(hold)
        return hold

    def close(self) -> None:
        """Let nobody in any more; who is inside is sent away with the loop."""
        self._aside.loop.call_soon_threadsafe(self._server.close)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio complains of a connection whose task was cancelled, as all are in the end.
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._connected(reader, writer)
        writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        trust = self._plane.trust
        behind, ahead = await asyncio.open_connection("127.0.0.1", self._before, ssl=trust)
        held: list[Hold] = []
        back = asyncio.create_task(_pass_back(behind, writer, held))
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                hold = self._picked(head, body)
                if hold is not None and hold.rule.is_answered:
                    held.append(hold)
                elif hold is not None and await _is_dropped(hold):
                    return
                ahead.write(head + body)
                await ahead.drain()
        finally:
            back.cancel()
            ahead.transport.abort()

    def _picked(self, head: bytes, body: bytes) -> Hold | None:
        for hold in self._holds:
            if hold.rule.picks(head, body):
                self._holds.remove(hold)
                return hold
        return None


async def _pass_back(
    behind: asyncio.StreamReader, writer: asyncio.StreamWriter, held: list[Hold]
) -> None:
    with suppress(OSError):
        while data := await behind.read(CHUNK_BYTES):
            if held and await _is_dropped(held.pop()):
                break
            writer.write(data)
            await writer.drain()
    writer.close()


async def _is_dropped(hold: Hold) -> bool:
    """Hold what was caught, and return whether it is to go no further."""
    hold.catch()
    await hold.let.wait()
    return hold.is_dropped


@contextmanager
def chokepoint(plane: ControlPlane, *, before: int | None = None) -> Iterator[Chokepoint]:
    """Run the proxy as long as the block, before the API server unless told otherwise."""
    with Aside() as aside:
        found = Chokepoint(plane, aside, before=before or plane.site.ports.api)
        try:
            yield found
        finally:
            found.close()
