"""A server of one application on one socket, which ends when it is told to and lets answers finish."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import itemgetter
from typing import Final, Never

import msgspec
import uvicorn
from uvicorn._types import ASGI3Application

from springtide.base.errors import SpringtideError
from springtide.edge.serving.door import Door, House, Leave
from springtide.edge.serving.protocol import HEAD_S_MAX, BoundedProtocol

BACKLOG: Final = 1024
TICK_S: Final = 1.0
"""So often the date of answers is renewed, as they tell it in seconds."""
CONNECTIONS_MAX: Final = 1024
"""Handshakes included; further callers wait until there is room."""
IDLE_S_MAX: Final = 120
"""Longer than kube-scheduler keeps an idle connection (90 s), so that it is never cut in its hand."""


class CannotListen(SpringtideError):
    """The address cannot be served."""


class Listener(msgspec.Struct, frozen=True, kw_only=True):
    """A socket that is open, and the address that it has."""

    socket: socket.socket
    host: str
    port: int


def listening(address: str) -> Listener:
    """Open the socket of an address such as `0.0.0.0:443` or `:80`, or raise CannotListen."""
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not port.isdecimal() or not 0 <= int(port) < 1 << 16:
        raise CannotListen(f'"{address}" is no address to listen on; write it like 0.0.0.0:443.')
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        opened = socket.create_server((host, int(port)), family=family, backlog=BACKLOG)
    except OSError as fault:
        raise CannotListen(
            f"{address} cannot be listened on: {fault.strerror or fault}. "
            "Choose another address, or stop what uses it."
        ) from fault
    opened.settimeout(0.0)
    # Connections inherit it. asyncio sets it only on sockets that name their protocol, and head and body
    # of an answer are sent apart: the second would wait 40 ms for the first to be acknowledged.
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    bound = opened.getsockname()
    return Listener(socket=opened, host=bound[0], port=bound[1])


class _Server(uvicorn.Server):
    """Leaves the signals to the process, and lets callers in by a door of its own."""

    def __init__(self, config: uvicorn.Config, *, connections_max: int, head_s_max: float) -> None:
        self._told = asyncio.Event()
        super().__init__(config)
        self._connections_max = connections_max
        self._head_s_max = head_s_max
        self._doors: list[Door] = []
        self._admitting: list[asyncio.Task[Never]] = []

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    @property
    def should_exit(self) -> bool:
        """Whether it was told to end."""
        return self._told.is_set()

    @should_exit.setter
    def should_exit(self, is_told: bool) -> None:
        (self._told.set if is_told else self._told.clear)()

    async def main_loop(self) -> None:
        """Keep the date of answers until told to end; ten looks a second would cost an idle process most."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._told.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to let callers in."""
        house = House(
            meet=self._meet,
            make_room=self._make_room,
            connections_max=self._connections_max,
            handshake_s_max=self._head_s_max,
            tls=self.config.ssl,
        )
        self._doors = [Door(each, house) for each in sockets or ()]
        self._admitting = [asyncio.create_task(each.admit()) for each in self._doors]
        self.servers = []
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let no more callers in, and finish what those ask who are there."""
        for task in self._admitting:
            task.cancel()
        await asyncio.gather(*self._admitting, return_exceptions=True)
        for door in self._doors:
            door.close()
        await super().shutdown(sockets)

    def _meet(self, leave: Leave) -> BoundedProtocol:
        return BoundedProtocol(
            config=self.config,
            server_state=self.server_state,
            app_state={},
            head_s_max=self._head_s_max,
            leave=leave,
        )

    def _make_room(self) -> None:
        resting = [
            (each.rests_until_s, each)
            for each in self.server_state.connections
            if isinstance(each, BoundedProtocol) and each.rests_until_s is not None
        ]
        if resting:
            _, longest = min(resting, key=itemgetter(0))
            longest.shutdown()


def server_for(
    application: ASGI3Application,
    *,
    tls: ssl.SSLContext | None = None,
    drain_s: float,
    head_s_max: float = HEAD_S_MAX,
    connections_max: int = CONNECTIONS_MAX,
) -> uvicorn.Server:
    """Return a server to be run by `serve(sockets=[…])` and ended by `should_exit`."""
    config = uvicorn.Config(
        application,
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_S_MAX,
        timeout_graceful_shutdown=max(1, round(drain_s)),
        ssl_context_factory=None if tls is None else (lambda _config, _default: tls),
    )
    return _Server(config, connections_max=connections_max, head_s_max=head_s_max)
