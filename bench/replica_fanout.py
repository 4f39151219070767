"""How long does it take until a thousand members have seen a new status?

One real etcd, and as many stores as there are members, each following as a member does; they share some processes,
so that each has less of a core than on a machine of its own. All have read what there is before the clock starts.
"""

import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from bench.figure import Figure
from springtide.edge.machine import SeededRng
from springtide.edge.store import StatusRead, StoreTold
from springtide.edge.store.etcd import EtcdAccess, EtcdStore, Pace
from springtide.edge.store.etcd.shapes import put
from springtide.model.replicas.status import Status
from springtide.model.replicas.workload import Workload
from springtide.wire.replica_keys import Place, keys
from springtide.wire.replica_status import write_status
from tests.etcds import MISSING, Etcd, program, running

MEMBERS: Final = 1_000
PROCESSES: Final = 4
CHANGES: Final = 5
BEGIN_S_MAX: Final = 120.0
SEEN_S_MAX: Final = 60.0
BEGIN_S: Final = 0.02
"""So long after each other they begin: what a thousand that begin at once take is another question."""
WORKLOAD: Final = Workload(name="chat", kind="StatefulSet", api_version="apps/v1")
FIRST: Final = 1


def measure() -> Iterator[Figure]:
    """Yield how long it takes until the first, the median and the last have seen it."""
    if program() is None:
        print(MISSING)
        return
    with tempfile.TemporaryDirectory() as folder:
        took = sorted(asyncio.run(_measured(Path(folder))))
    how = f"{MEMBERS:,} members in {PROCESSES} processes, the slowest of {CHANGES} changes"
    yield Figure("seen by all", took[-1], "s", how)
    yield Figure("seen by all, median", took[len(took) // 2], "s", "of the changes")


async def _measured(folder: Path) -> list[float]:
    async with running(folder) as etcd:
        await _write(etcd, FIRST)
        context = multiprocessing.get_context("spawn")
        ends = [context.Pipe() for _ in range(PROCESSES)]
        followers = [
            context.Process(target=follow, args=(etcd.url, MEMBERS // PROCESSES, there))
            for _, there in ends
        ]
        for each in followers:
            each.start()
        here = [end for end, _ in ends]
        try:
            await _all_say(here, FIRST, limit_s=BEGIN_S_MAX)
            return [await _change(etcd, here, FIRST + 1 + number) for number in range(CHANGES)]
        finally:
            for each in followers:
                each.kill()
                each.join()


async def _change(etcd: Etcd, ends: list[Connection], generation: int) -> float:
    await asyncio.sleep(1)
    begun_s = time.monotonic()
    await _write(etcd, generation)
    return await _all_say(ends, generation, limit_s=SEEN_S_MAX) - begun_s


async def _all_say(ends: list[Connection], generation: int, *, limit_s: float) -> float:
    """Wait until every process says that all of its members have seen it; return when the last one had."""

    def wait(end: Connection) -> float:
        assert end.poll(limit_s), f"generation {generation} was not seen within {limit_s:g} s"
        seen, at_s = end.recv()
        assert seen == generation
        return float(at_s)

    return max(await asyncio.gather(*(asyncio.to_thread(wait, each) for each in ends)))


async def _write(etcd: Etcd, generation: int) -> None:
    status = Status(current=8, expect=8, start_ms=0, end_ms=0, scaling_ms=0, generation=generation)
    key = keys(Place(workload=WORKLOAD)).status
    await etcd.do(put(key, write_status(status, has_objects=False)))


def follow(url: str, count: int, end: Connection) -> None:
    """Follow with so many stores, and say of each generation when the last of them has seen it."""
    asyncio.run(_follow(url, count, end))


async def _follow(url: str, count: int, end: Connection) -> None:
    seen: dict[int, int] = {}

    def take(told: StoreTold) -> None:
        if isinstance(told, StatusRead) and told.status is not None:
            generation = told.status.generation
            seen[generation] = seen.get(generation, 0) + 1
            if seen[generation] == count:
                end.send((generation, time.monotonic()))

    # Nothing is confirmed meanwhile, which would be told again.
    access = EtcdAccess(endpoints=(url,), pace=Pace(confirm_s=600.0))
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            store = EtcdStore(access, WORKLOAD, rng=SeededRng(number))
            group.create_task(store.follow(take))
            await asyncio.sleep(BEGIN_S)
