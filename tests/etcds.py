"""A real etcd for tests, one of its own each: `make controlplane` builds it, or the system has one."""

import asyncio
import shutil
import socket
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from springtide.edge.store.etcd import EtcdAccess
from springtide.edge.store.etcd.gateway import Gateway
from springtide.edge.store.etcd.shapes import Fields, TxnAnswer, get, txn
from springtide.model.scheduler import ExtenderTLSConfig
from tests.e2e.processes import Processes
from tools.controlplane.build import VARIABLE, found

NAME: Final = "etcd"
START_S: Final = 30.0
ANSWER_S: Final = 5.0
MISSING: Final = (
    f"There is no etcd: run `make controlplane`, or name a folder with one in {VARIABLE}"
)


def program() -> str | None:
    """Return the path of an etcd, if there is one."""
    folder = found((NAME,))
    return str(folder / NAME) if folder else shutil.which(NAME)


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """More options, and how the operator is known."""

    options: tuple[str, ...] = ()
    tls: ExtenderTLSConfig | None = None


class _Any(msgspec.Struct, frozen=True):
    """An answer of which nothing is wanted."""


class Etcd:
    """A running one, and what an operator does with it."""

    def __init__(self, processes: Processes, folder: Path, given: Given) -> None:
        self.data = folder / "etcd"
        self.port, self._peer = _ports()
        self.url = f"{'https' if given.tls else 'http'}://127.0.0.1:{self.port}"
        self._processes = processes
        self._more = given.options
        self._probe = _ports()[0]
        self.hand = Gateway(EtcdAccess(endpoints=(self.url,), tls=given.tls))

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        if NAME in self._processes.names:
            self._processes.again(NAME)
        else:
            self._processes.start(NAME, self._command())
        health = f"http://127.0.0.1:{self._probe}/health"
        await asyncio.to_thread(
            self._processes.wait_until,
            lambda: _answers(health),
            "ready",
            name=NAME,
            limit_s=START_S,
        )

    async def stop(self) -> None:
        """Stop it."""
        await asyncio.to_thread(self._processes.stop, NAME)

    async def wipe(self) -> None:
        """Lose its disk."""
        await self.stop()
        await asyncio.to_thread(shutil.rmtree, self.data)
        await self.start()

    async def tell(self, path: str, fields: Fields) -> None:
        """Ask for something whose answer does not matter."""
        await self.hand.ask(path, fields, _Any)

    async def do(self, *operations: Fields) -> TxnAnswer:
        """Do operations as one."""
        return await self.hand.ask("/v3/kv/txn", txn(operations), TxnAnswer)

    async def revision(self) -> int:
        """Return the revision of now."""
        return (await self.do(get("/"))).header.revision

    async def compact(self) -> None:
        """Forget all that was before now."""
        fields = {"revision": str(await self.revision()), "physical": True}
        await self.tell("/v3/kv/compaction", fields)

    def _command(self) -> list[str]:
        path = program()
        assert path is not None
        peers = f"http://127.0.0.1:{self._peer}"
        return [
            path,
            f"--data-dir={self.data}",
            f"--listen-client-urls={self.url}",
            f"--advertise-client-urls={self.url}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            f"--listen-metrics-urls=http://127.0.0.1:{self._probe}",
            "--heartbeat-interval=20",
            "--election-timeout=200",
            "--log-level=warn",
            *self._more,
        ]


@asynccontextmanager
async def running(folder: Path, given: Given = Given()) -> AsyncIterator[Etcd]:  # noqa: B008
    """Run one as long as the block."""
    with Processes(folder / "logs") as processes:
        etcd = Etcd(processes, folder, given)
        try:
            await etcd.start()
            yield etcd
        finally:
            await etcd.hand.close()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=ANSWER_S) as response:
            return b"true" in response.read()
    except (OSError, urllib.error.URLError):
        return False


def _ports() -> tuple[int, int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    first, second = (int(each.getsockname()[1]) for each in sockets)
    for each in sockets:
        each.close()
    return first, second
