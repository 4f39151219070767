"""The address of a Service: whoever connects reaches the replica that is labelled as the leader."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import Aside

ROLE: Final = "hami.io/scheduler-role"
REPLICAS: Final = "/api/v1/namespaces/kube-system/pods"
CHUNK_BYTES: Final = 64 << 10


def roles(plane: ControlPlane) -> dict[str, str]:
    """Return the role of each replica that has one, by its pod."""
    listed = plane.ask("GET", REPLICAS)["items"]
    labels = {each["metadata"]["name"]: each["metadata"].get("labels", {}) for each in listed}
    return {name: own[ROLE] for name, own in labels.items() if ROLE in own}


class Door:
    """The address; `inside` is asked for the port behind it whenever somebody connects."""

    def __init__(self, aside: Aside, inside: Callable[[], int | None]) -> None:
        self._aside = aside
        self._inside = inside
        self._server = aside.done(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Let nobody in any more; who is inside is sent away with the loop."""
        self._aside.loop.call_soon_threadsafe(self._server.close)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio complains of a connection whose task was cancelled, as all are in the end.
        with suppress(OSError, asyncio.CancelledError):
            port = await asyncio.to_thread(self._inside)
            if port is not None:
                await _connected(reader, writer, port)
        writer.transport.abort()


async def _connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    behind, ahead = await asyncio.open_connection("127.0.0.1", port)
    ways = [asyncio.create_task(_pass(reader, ahead)), asyncio.create_task(_pass(behind, writer))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        ahead.transport.abort()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(CHUNK_BYTES):
            writer.write(data)
            await writer.drain()


@contextmanager
def door(inside: Callable[[], int | None]) -> Iterator[Door]:
    """Keep the address as long as the block."""
    with Aside() as aside:
        found = Door(aside, inside)
        try:
            yield found
        finally:
            found.close()
