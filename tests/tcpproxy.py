"""A line to a server that can be cut: refused to whoever connects, slow, broken off in the middle of what the server
says, or silent while it looks whole.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import Enum, auto
from typing import Final

CHUNK_BYTES: Final = 64 << 10
REQUEST: Final = b" HTTP/1.1\r\n"


class Mode(Enum):
    """What becomes of bytes."""

    PASS = auto()
    REFUSE = auto()
    SWALLOW = auto()
    DELAY = auto()
    CUT = auto()


class Line:
    """A proxy before a port of this machine; `port` is its own."""

    def __init__(self, server: asyncio.Server, before: int) -> None:
        self.before = before
        self.mode = Mode.PASS
        self.port = int(server.sockets[0].getsockname()[1])
        self.connected = 0
        self.requests = 0
        self.asked_at_s: list[float] = []
        self.delay_s = 0.0
        self.cut_after_bytes = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._frozen: set[asyncio.StreamWriter] = set()
        self._said: dict[asyncio.StreamWriter, bytes] = {}
        self._held = b""
        self._let = asyncio.Event()

    def turn(self, mode: Mode) -> None:
        """Change what becomes of bytes; whoever is inside is sent away, unless they are swallowed or late."""
        self.mode = mode
        if mode not in {Mode.SWALLOW, Mode.DELAY}:
            self.drop()

    def freeze(self, saying: bytes = b"") -> None:
        """Let those that are inside hear nothing more, of which the last that they said has this in it."""
        self._frozen |= self.saying(saying)

    def saying(self, what: bytes) -> frozenset[asyncio.StreamWriter]:
        """Return those that are inside of which the last that they said has this in it."""
        return frozenset(each for each, said in self._said.items() if what in said)

    def hold(self, saying: bytes) -> None:
        """Hold what has this in it on its way to the server."""
        self._held = saying

    def let(self) -> None:
        """Let go what is held."""
        self._held = b""
        self._let.set()

    def drop(self) -> None:
        """Send away whoever is inside."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connected += 1
        self.asked_at_s.append(time.monotonic())
        if self.mode is Mode.REFUSE:
            writer.transport.abort()
            return
        try:
            with suppress(OSError):
                behind, ahead = await asyncio.open_connection("127.0.0.1", self.before)
                self._writers |= {writer, ahead}
                ways = self._pass(reader, ahead, of=writer), self._pass(behind, writer)
                await asyncio.gather(*ways)
        except asyncio.CancelledError:
            # asyncio complains of a connection whose task was cancelled, as all are in the end.
            pass
        finally:
            writer.transport.abort()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        of: asyncio.StreamWriter | None = None,
    ) -> None:
        try:
            while data := await reader.read(CHUNK_BYTES):
                if of is not None:
                    self._said[of] = data
                    self.requests += data.count(REQUEST)
                    if self._held and self._held in data:
                        await self._let.wait()
                if self.mode is Mode.DELAY:
                    await asyncio.sleep(self.delay_s)
                is_cut = self.mode is Mode.CUT and of is None
                if self.mode is not Mode.SWALLOW and writer not in self._frozen:
                    writer.write(data[: self.cut_after_bytes] if is_cut else data)
                    await writer.drain()
                if is_cut:
                    break
        finally:
            writer.transport.abort()
            self._writers.discard(writer)
            self._said.pop(writer, None)


@asynccontextmanager
async def line(before: int) -> AsyncIterator[Line]:
    """Open a line to a port as long as the block."""
    made: list[Line] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await made[0].serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.append(Line(server, before))
    try:
        yield made[0]
    finally:
        server.close()
        made[0].drop()
