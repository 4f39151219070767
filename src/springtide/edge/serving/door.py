"""Lets callers in, so many at a time.

Where there is no room, whoever has been idle longest between two requests makes some; else newcomers wait
outside, where the kernel keeps a few, until somebody leaves. A handshake of TLS takes up room as well, and
has only so much time.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Never

import msgspec

PAUSE_S: Final = 0.1
"""So long it is waited where there is no room, or the system has none, before it is looked at again."""

Leave = Callable[[], None]
Meet = Callable[[Leave], asyncio.Protocol]
"""Makes the protocol of one caller, which says so when it leaves."""


class House(msgspec.Struct, frozen=True, kw_only=True):
    """Who serves behind a door: `make_room` ends an idle connection, if there is one."""

    meet: Meet
    make_room: Callable[[], None]
    connections_max: int
    handshake_s_max: float
    tls: ssl.SSLContext | None = None


class Door:
    """The door of one socket."""

    def __init__(self, listening: socket.socket, house: House) -> None:
        self._listening = listening
        self._house = house
        self._inside: set[socket.socket] = set()
        self._meeting: set[asyncio.Task[None]] = set()
        self._left = asyncio.Event()

    async def admit(self) -> Never:
        """Let callers in until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._room()
            try:
                caller, _ = await loop.sock_accept(self._listening)
            except ConnectionAbortedError:
                continue
            except OSError:
                await asyncio.sleep(PAUSE_S)
                continue
            self._inside.add(caller)
            task = loop.create_task(self._meet(caller))
            self._meeting.add(task)
            task.add_done_callback(self._meeting.discard)
            # A queue of newcomers is accepted without waiting, and others have their turn in between.
            await asyncio.sleep(0)

    def close(self) -> None:
        """Let go of those who are still shaking hands."""
        for each in self._meeting:
            each.cancel()

    async def _room(self) -> None:
        while len(self._inside) >= self._house.connections_max:
            self._left.clear()
            self._house.make_room()
            # Somebody may begin to rest meanwhile, so it is looked at again.
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_S):
                    await self._left.wait()

    async def _meet(self, caller: socket.socket) -> None:
        def leave() -> None:
            self._inside.discard(caller)
            self._left.set()

        house = self._house
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: house.meet(leave),
                caller,
                ssl=house.tls,
                ssl_handshake_timeout=house.handshake_s_max if house.tls else None,
            )
        except OSError:
            # No handshake came of it; the connection is closed by now.
            leave()
