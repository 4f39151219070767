"""Servers on loopback inside the test's own loop, and callers that speak to them byte by byte."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import msgspec
import uvicorn

from springtide.edge.serving import Listener, listening


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Told:
    """A log that is kept."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, object]]] = []

    def __call__(self, event: str, *, is_fault: bool = False, **facts: object) -> None:
        """Keep it."""
        self.events.append((event, {"is_fault": is_fault, **facts}))

    def of(self, event: str) -> list[Mapping[str, object]]:
        """Return the facts of all events of this name."""
        return [facts for name, facts in self.events if name == event]


@asynccontextmanager
async def served(server: uvicorn.Server) -> AsyncIterator[Listener]:
    """Run a server on a free port while the block is entered."""
    listener = listening("127.0.0.1:0")
    task = asyncio.create_task(server.serve(sockets=[listener.socket]))
    try:
        yield listener
    finally:
        server.should_exit = True
        await task


def head(method: str, path: str, *, length: int | None = None, extra: str = "") -> bytes:
    """Return the head of a request."""
    size = "" if length is None else f"Content-Length: {length}\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\n{size}{extra}\r\n".encode()


@asynccontextmanager
async def connected(
    listener: Listener, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a connection while the block is entered."""
    reader, writer = await asyncio.open_connection(
        listener.host, listener.port, ssl=tls, server_hostname="localhost" if tls else None
    )
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def call(
    listener: Listener,
    method: str,
    path: str,
    body: bytes | None = None,
    *,
    extra: str = "",
    tls: ssl.SSLContext | None = None,
) -> Answer:
    """Make one call on a connection of its own."""
    async with connected(listener, tls=tls) as (reader, writer):
        length = None if body is None else len(body)
        writer.write(head(method, path, length=length, extra=extra) + (body or b""))
        return await answer(reader)


async def answer(reader: asyncio.StreamReader) -> Answer:
    """Read one answer."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Answer(status=int(first.split()[1]), headers=headers, body=body)
