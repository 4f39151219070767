"""How long do hypothetical questions take over HTTP, with TLS and known callers, and who waits for them?

The server is a process of its own, as in production, and whoever calls it another one; figures are by the
clock on the wall. The live filter is measured twice in one run, without simulations and with as many as one
caller can ask, each about 5,000 nodes.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from bench import calls
from bench.clusters import node
from bench.figure import Figure
from bench.live import World
from bench.simulation import bare_node, encoded, pod
from springtide.client import Client, Server
from springtide.client.calls import Call
from springtide.wire.simulation.answers import PlaceAnswer
from tests.simulators import CLIENT, Papers

GROUPS: Final = 4
IMAGES: Final = 62
"""With so many images 5,000 nodes are 75 MB."""
CALLERS: Final = 16
CALLS_EACH: Final = 4
BATCH: Final = 500
BATCHES: Final = 40
NODES: Final = 1_000
LIVE_CALLS: Final = 2_000
PATIENT_S: Final = 120.0
NICENESS: Final = 15


class Body(msgspec.Struct):
    """Answers of which only the arrival counts."""


def measure() -> Iterator[Figure]:
    """Yield what sessions and calls without state take, how much memory, and who waits."""
    with tempfile.TemporaryDirectory() as folder:
        papers = Papers(Path(folder))
        with serving(papers) as (server, _):
            yield _placed(server)
        nodes = [bare_node(index) for index in range(5_000)]
        with serving(papers) as (server, process):
            yield from _at_once("5,000 nodes", nodes, server, process)
        whole = [node(index, GROUPS, images=IMAGES) for index in range(5_000)]
        with serving(papers) as (server, process):
            yield from _at_once("5,000 whole nodes", whole, server, process)
        yield from _beside(papers, nodes)


@contextmanager
def serving(papers: Papers, *, is_beside: bool = False) -> Iterator[tuple[Server, int]]:
    """Run a server while the block is entered; give its address and process.

    One that `is_beside` a live scheduler gives way to it.
    """
    files = papers.files
    command = [
        sys.executable, "-m", "springtide", "extender", "--simulation-only", "--config=-",
        "--simulation-bind-address=127.0.0.1:0", f"--simulation-cert-file={files.certificate}",
        f"--simulation-key-file={files.key}",
        f"--simulation-client-ca-file={files.client_authorities}", f"--simulation-identity={CLIENT}",
    ]  # fmt: skip
    command += [f"--simulation-parent={os.getpid()}"] if is_beside else []
    section = {"watchProfiles": False, "requestTimeout": "60s"}
    document = {
        "apiVersion": "springtide.io/v1alpha1", "kind": "ExtenderConfiguration",
        "shutdownDelay": "0s", "simulation": section,
    }  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(document).encode())
        process.stdin.close()
        told: dict[str, Any] = {}
        while told.get("event") != "simulating":
            told = json.loads(process.stderr.readline())
        draining = ThreadPoolExecutor(1)
        draining.submit(process.stderr.read)
        certificate, key, authority = papers.written(CLIENT)
        try:
            yield (
                Server(
                    url=f"https://localhost:{told['port']}",
                    ca_file=authority,
                    cert_file=certificate,
                    key_file=key,
                    timeout_s=PATIENT_S,
                    tries_max=100,
                ),
                process.pid,
            )
        finally:
            process.terminate()
            draining.shutdown()


def _placed(server: Server) -> Figure:
    nodes = [bare_node(index) for index in range(NODES)]
    bodies = [
        encoded(
            {
                "operationId": f"batch-{batch}",
                "pods": [
                    {
                        "pod": pod(batch * BATCH + each, gpumem=1000),
                        "node": nodes[(batch * BATCH + each) % NODES]["metadata"]["name"],
                    }
                    for each in range(BATCH)
                ],
            }
        )
        for batch in range(BATCHES)
    ]
    with Client(server) as client, client.session(nodes) as session:
        path = f"/v1/sessions/{session.id}:place"
        begun_s = time.perf_counter()
        for body in bodies:
            answer = client.call(Call(method="POST", path=path, body=body, answer=PlaceAnswer))
            assert all(each.placed for each in answer.results)
        took_s = time.perf_counter() - begun_s
    how = f"{NODES:,} nodes, batches of {BATCH}, one after the other"
    return Figure("pods placed over HTTP", BATCH * BATCHES / took_s, "pods/s", how)


def _at_once(
    name: str, nodes: list[dict[str, Any]], server: Server, process: int
) -> Iterator[Figure]:
    body = encoded({"Pod": pod(0, gpumem=8192, gpucores=10), "Nodes": {"items": nodes}})
    call = Call(method="POST", path="/filter-simulation", body=body, answer=Body)

    def ask(_: int) -> list[float]:
        with Client(server) as client:
            return [_timed(client, call) for _ in range(CALLS_EACH)]

    alone = ask(0)
    with ThreadPoolExecutor(CALLERS) as callers:
        begun_s = time.perf_counter()
        taken = sorted(each for many in callers.map(ask, range(CALLERS)) for each in many)
        took_s = time.perf_counter() - begun_s
    size = f"{len(body) / 1e6:.0f} MB"
    yield Figure(f"{name}, one caller", min(alone) * 1e3, "ms", f"{size}, the best")
    how = f"{size}, {len(taken)} calls, {len(taken) / took_s:.1f} a second"
    yield Figure(f"{name}, {CALLERS} callers, half", taken[len(taken) // 2] * 1e3, "ms", how)
    yield Figure(f"{name}, {CALLERS} callers, memory", _peak_mib(process), "MiB", "the most it had")


def _timed(client: Client, call: Call[Body]) -> float:
    begun_s = time.perf_counter()
    client.call(call)
    return time.perf_counter() - begun_s


def _peak_mib(process: int) -> float:
    """Return how much memory a process had at most."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    line = next(each for each in status.splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _beside(papers: Papers, nodes: list[dict[str, Any]]) -> Iterator[Figure]:
    """Yield what live calls take without simulations and with."""
    world = World(NODES)
    named = world.called(100)
    count = LIVE_CALLS + calls.WARM_CALLS
    bodies = [calls.body(index, NodeNames=named) for index in range(count)]
    alone = asyncio.run(calls.called(world, bodies))[calls.WARM_CALLS :]
    world = World(NODES)
    with serving(papers, is_beside=True) as (server, _), asking(server, papers, nodes):
        meanwhile = asyncio.run(calls.called(world, bodies))[calls.WARM_CALLS :]
    for name, taken in (("without simulations", alone), ("with simulations", meanwhile)):
        taken.sort()
        how = f"{LIVE_CALLS:,} live calls, {NODES:,} nodes, half {taken[len(taken) // 2] * 1e3:.2f} ms"
        yield Figure(
            f"live filter {name}, 99 of 100", taken[len(taken) * 99 // 100] * 1e3, "ms", how
        )


@contextmanager
def asking(server: Server, papers: Papers, nodes: list[dict[str, Any]]) -> Iterator[None]:
    """Ask about these nodes without a pause while the block is entered, in a process of its own."""
    file = papers.folder / "call.json"
    file.write_bytes(encoded({"Pod": pod(0, gpumem=8192), "Nodes": {"items": nodes}}))
    settings = msgspec.json.encode(server).decode()
    with subprocess.Popen([sys.executable, __file__, settings, str(file)]) as process:
        try:
            yield
        finally:
            process.terminate()


def ask_for_ever(settings: str, file: str) -> None:
    """Ask the same again and again, as from another machine: the live calls do not wait for the cores."""
    os.nice(NICENESS)
    call = Call(method="POST", path="/filter-simulation", body=Path(file).read_bytes(), answer=Body)
    with Client(msgspec.json.decode(settings, type=Server)) as client:
        while True:
            client.call(call)


if __name__ == "__main__":
    ask_for_ever(sys.argv[1], sys.argv[2])
