"""The site in a real etcd: each member's store goes over a line of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from springtide.edge.machine import SeededRng
from springtide.edge.store import Store
from springtide.edge.store.etcd import EtcdAccess, EtcdStore, Pace
from springtide.edge.store.etcd.shapes import delete, put
from springtide.model.replicas.workload import Workload
from springtide.wire.replica_keys import Place, keys
from tests.contract.stores import Heard, Traits, World
from tests.etcds import MISSING, Etcd, program, running
from tests.tcpproxy import Line, Mode, line

PACE = Pace(member_ttl_s=3.0, confirm_s=1.0, again_s_min=0.1, again_s_max=0.4)
PATIENCE_S = 20.0
SERVICES = "/atapp/services/"
WORKLOAD = Workload(name="chat", kind="StatefulSet", api_version="apps/v1", environment="prod")
KEYS = keys(Place(workload=WORKLOAD))


class InEtcd:
    """A `Site` over a real etcd."""

    def __init__(self, etcd: Etcd, stack: AsyncExitStack) -> None:
        self.etcd = etcd
        self._stack = stack
        self._lines: dict[str, Line] = {}
        self.traits = Traits(
            patience_s=PATIENCE_S,
            member_ttl_s=PACE.member_ttl_s,
            lock_ttl_ms=3_000,
            confirm_s=PACE.confirm_s,
        )

    async def store(self, name: str) -> Store:
        """Return a store that goes over the line of this member."""
        port = (await self._line(name)).port
        access = EtcdAccess(endpoints=(f"http://127.0.0.1:{port}",), timeout_s=2.0, pace=PACE)
        store = EtcdStore(access, WORKLOAD, rng=SeededRng(port))
        return await self._stack.enter_async_context(store)

    async def kill(self, name: str) -> None:
        """Nobody keeps its lease alive any more."""

    async def cut(self, name: str) -> None:
        """Refuse connections."""
        (await self._line(name)).turn(Mode.REFUSE)

    async def heal(self, name: str) -> None:
        """Let it in again."""
        (await self._line(name)).turn(Mode.PASS)

    async def stop(self) -> None:
        """Stop the server."""
        await self.etcd.stop()

    async def start(self) -> None:
        """Start the server again."""
        await self.etcd.start()

    async def wipe(self) -> None:
        """Lose its disk."""
        await self.etcd.wipe()

    async def compact(self) -> bool:
        """Forget what was before now."""
        await self.etcd.compact()
        return True

    async def damage(self, text: bytes) -> None:
        """Write it as the status."""
        await self.etcd.do(put(KEYS.status, text))

    async def erase(self) -> None:
        """Delete the status."""
        await self.etcd.do(delete(KEYS.status))

    async def writes(self) -> int:
        """Return the revision."""
        return await self.etcd.revision()

    async def _line(self, name: str) -> Line:
        if name not in self._lines:
            made = await self._stack.enter_async_context(line(self.etcd.port))
            self._lines[name] = made
        return self._lines[name]


@asynccontextmanager
async def _site(folder: Path) -> AsyncIterator[InEtcd]:
    async with running(folder) as etcd, AsyncExitStack() as stack:
        yield InEtcd(etcd, stack)


ETCD = World(name="etcd", site=_site, run=asyncio.run, missing="" if program() else MISSING)


@asynccontextmanager
async def followed(store: EtcdStore) -> AsyncIterator[Heard]:
    """Follow a store as long as the block, and close it."""
    heard = Heard(PATIENCE_S)
    async with store:
        task = asyncio.create_task(store.follow(heard))
        try:
            yield heard
        finally:
            task.cancel()
            await asyncio.wait([task])


def store_at(*endpoints: str, is_observing: bool = False, **facts: Any) -> EtcdStore:
    """Return a store at these endpoints."""
    access = EtcdAccess(endpoints=endpoints, **{"timeout_s": 1.0, "pace": PACE, **facts})
    return EtcdStore(access, WORKLOAD, rng=SeededRng(1), is_observing=is_observing)
