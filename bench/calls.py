"""How long does a filter call over HTTP take, from the first byte of the request to the last of the answer?

The process is whole but for the API server, which takes every patch at once. The caller is in the same
process and has its pods written before, so that its share is that of sending and waiting.
"""

import asyncio
import gc
import socket
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from bench.figure import Figure
from bench.live import PEER_MS, World
from springtide.apps.extender import Endpoints, Process, Settings, Times
from springtide.edge.cluster import Metadata, Target
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.serving import Listener, listening
from springtide.model.occurrence import Occurrence
from tests.memorycluster import MemoryCluster
from tests.objectstore import ObjectStore
from tests.running import pod_object

CALLS: Final = 1_000
WARM_CALLS: Final = 100
WHOLE_NODE_BYTES: Final = 14_000


class Willing(MemoryCluster):
    """An API server that has nothing to tell and takes everything."""

    async def patch(self, target: Target, change: Metadata) -> str:
        """Take it."""
        del target, change
        return "1"

    async def record(self, occurrence: Occurrence) -> None:
        """Take it."""
        del occurrence


def measure() -> Iterator[Figure]:
    """Yield what calls take, by names and with whole nodes."""
    for nodes, named in PEER_MS:
        yield from asyncio.run(_by_names(nodes, named))
        gc.collect()
    yield from asyncio.run(_whole())


async def _by_names(nodes: int, named: int) -> list[Figure]:
    world = World(nodes)
    bodies = [body(index, NodeNames=world.called(named)) for index in range(CALLS + WARM_CALLS)]
    taken = sorted((await called(world, bodies))[WARM_CALLS:])
    name = f"{nodes:,} nodes, {named:,} named"
    how = f"{CALLS:,} calls; HAMi's filter takes {PEER_MS[nodes, named]} ms without HTTP"
    return [
        Figure(f"{name}, half", taken[len(taken) // 2] * 1e3, "ms", how),
        Figure(f"{name}, 99 of 100", taken[len(taken) * 99 // 100] * 1e3, "ms", how),
    ]


async def _whole() -> list[Figure]:
    world = World(5_000)
    filling = "x" * WHOLE_NODE_BYTES
    items = [{"metadata": {"name": name}, "status": filling} for name in world.names]
    bodies = [body(index, Nodes={"items": items}) for index in range(3)]
    size = len(bodies[0]) / 1e6
    how = f"best of {len(bodies)}, {size:.0f} MB"
    pause = Pause()
    async with _serving(world) as listener:
        # By another thread, because to send so much keeps a loop from everybody else, too.
        taken = [await pause.during(asyncio.to_thread(_posted, listener, each)) for each in bodies]
    return [
        Figure("5,000 whole nodes", min(taken), "s", how),
        Figure(
            "longest pause of the loop meanwhile",
            min(pause.longest_s) * 1e3,
            "ms",
            f"of its own work; {how}",
        ),
    ]


class Pause:
    """For how long the loop has kept others waiting in each of some calls, by its thread's own time."""

    def __init__(self) -> None:
        self.longest_s: list[float] = []

    async def during(self, work: Coroutine[object, object, float]) -> float:
        """Return what work comes to, and look at the time at every turn meanwhile."""
        task = asyncio.create_task(work)
        longest_s, before_s = 0.0, time.thread_time()
        while not task.done():
            await asyncio.sleep(0)
            now_s = time.thread_time()
            longest_s, before_s = max(longest_s, now_s - before_s), now_s
        self.longest_s.append(longest_s)
        return task.result()


def _posted(listener: Listener, sent: bytes) -> float:
    """Return how long one call takes on a connection of its own."""
    with socket.create_connection((listener.host, listener.port)) as connection:
        begun = time.perf_counter()
        connection.sendall(_head(sent))
        connection.sendall(sent)
        answer, size = connection.makefile("rb"), 0
        while line := answer.readline().strip():
            if line.startswith(b"content-length:"):
                size = int(line.rpartition(b" ")[2])
        assert answer.read(size).endswith(b'"Error":""}')
        return time.perf_counter() - begun


def _head(sent: bytes) -> bytes:
    return b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(sent)


def body(index: int, **nodes: object) -> bytes:
    """Return the body of a filter call about a pod and these nodes."""
    pod = pod_object(f"p{index}", gpu=1, gpumem=100 + index % 7)
    pod["metadata"]["uid"] = f"called-{index}"
    return msgspec.json.encode({"Pod": pod, **nodes})


async def called(world: World, bodies: list[bytes]) -> list[float]:
    """Return how long each call takes, one after the other on one connection."""
    async with _serving(world) as listener:
        return await _timed(listener, bodies)


@asynccontextmanager
async def _serving(world: World) -> AsyncIterator[Listener]:
    """Run an extender that knows the world while the block is entered."""
    process = Process(
        Willing(ObjectStore()),
        world.live,
        settings=Settings(),
        times=Times(MachineClock(), MachineCalendar()),
        log=_unheard,
    )
    listener, stop = listening("127.0.0.1:0"), asyncio.Event()
    running = asyncio.create_task(process.run(Endpoints(calls=listener), stop))
    await process.scheduling.ready.wait()
    gc.collect()
    gc.freeze()
    try:
        yield listener
    finally:
        gc.unfreeze()
        stop.set()
        await running


async def _timed(listener: Listener, bodies: list[bytes]) -> list[float]:
    reader, writer = await asyncio.open_connection(listener.host, listener.port)
    taken = []
    for sent in bodies:
        begun = time.perf_counter()
        writer.write(_head(sent))
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        answer = await reader.readexactly(int(head.rpartition(b"content-length: ")[2].split()[0]))
        taken.append(time.perf_counter() - begun)
        assert answer.endswith(b'"Error":""}'), answer
    writer.close()
    return taken


def _unheard(event: str, *, is_fault: bool = False, **facts: object) -> None:
    del event, is_fault, facts
