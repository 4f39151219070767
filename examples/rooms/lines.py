"""A line to a port of this machine on which nothing may pass for a while, as where a network is cut."""

import asyncio
from contextlib import suppress
from typing import Final

CHUNK_BYTES: Final = 64 << 10
HOST: Final = "127.0.0.1"


class Line:
    """Carries connections to the port; what is said while it is closed arrives when it is open again."""

    def __init__(self, before: int) -> None:
        self._before = before
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._server: asyncio.Server | None = None
        self._carrying: set[asyncio.Task[None]] = set()
        self.port = 0

    async def open(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def turn(self, *, is_open: bool) -> None:
        """Let pass, or hold back."""
        (self._is_open.set if is_open else self._is_open.clear)()

    async def close(self) -> None:
        """Listen no more, and send everybody away."""
        if self._server is not None:
            self._server.close()
        for each in self._carrying:
            each.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._carrying.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await self._is_open.wait()
                await self._joined(reader, writer)
        finally:
            self._carrying.discard(task)
            writer.transport.abort()

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(HOST, self._before)
        ways = [
            asyncio.create_task(self._carry(reader, back)),
            asyncio.create_task(self._carry(there, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ways:
                each.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            back.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry what is said, and at last that no more will be; neither while the line is closed."""
        while chunk := await reader.read(CHUNK_BYTES):
            await self._is_open.wait()
            writer.write(chunk)
            await writer.drain()
        await self._is_open.wait()
        writer.close()
        await writer.wait_closed()
