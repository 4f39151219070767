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
        self.asked_at_s: list[float] = []
        self.delay_s = 0.0
        self.cut_after_bytes = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._frozen: set[asyncio.StreamWriter] = set()

    def set(self, mode: Mode) -> None:
        """Change what becomes of bytes; whoever is inside is sent away, unless they are swallowed or late."""
        self.mode = mode
        if mode not in {Mode.SWALLOW, Mode.DELAY}:
            self.drop()

    def freeze(self) -> None:
        """Let those that are inside hear nothing more, while others come through."""
        self._frozen |= self._writers

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
                await asyncio.gather(self._pass(reader, ahead), self._pass(behind, writer, is_back=True))
        except asyncio.CancelledError:
            # asyncio complains of a connection whose task was cancelled, as all are in the end.
            pass
        finally:
            writer.transport.abort()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_back: bool = False
    ) -> None:
        left_bytes = self.cut_after_bytes
        try:
            while data := await reader.read(CHUNK_BYTES):
                if self.mode is Mode.DELAY:
                    await asyncio.sleep(self.delay_s)
                if self.mode is Mode.SWALLOW or writer in self._frozen:
                    continue
                is_cut = is_back and self.mode is Mode.CUT
                writer.write(data[:left_bytes] if is_cut else data)
                await writer.drain()
                left_bytes -= len(data)
                if is_cut and left_bytes <= 0:
                    break
        finally:
            writer.transport.abort()
            self._writers.discard(writer)


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
