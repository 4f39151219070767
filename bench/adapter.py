"""How many answers a second does an adapter give on one core, and what does it ask of others for them?

The process is whole, over TLS and behind a front proxy, with the stand-in API server and Prometheus of the
tests: a thousand workloads of ten members with two metrics. The caller is in the same process, so that an
answer's share of the CPU is less than what is measured.
"""

import asyncio
import gc
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from bench.figure import Figure
from springtide.edge.memory import forget_peak, peak_mib
from tests.adapting import HPA, ROOT, SERVED, Authority, E, S, Standing, adapting, value_path
from tests.promapi import PromApi, Reply, prometheus

WORKLOADS: Final = 1_000
MEMBERS: Final = 10
ANSWERS: Final = 8_000
REFRESH_S: Final = 0.5
"""Ten times as often as is usual, so that a short measurement has its share of new tables."""
WARM: Final = 200


class Canned(PromApi):
    """Answers from what it has answered before: what a query takes is not ours."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, Reply] = {}

    def reply(self, form: Mapping[str, list[str]]) -> Reply:
        """Return the answer to a query."""
        query = form["query"][0]
        self.asked.append(query)
        if query not in self._kept:
            self._kept[query] = super().reply(form)
        return self._kept[query]


def measure() -> Iterator[Figure]:
    """Yield what answers take, and what they cost others."""
    with tempfile.TemporaryDirectory() as folder, prometheus(Canned()) as api:
        _export(api)
        yield from asyncio.run(_measured(Path(folder), api))


def _export(api: PromApi) -> None:
    for workload in range(WORKLOADS):
        for member in range(MEMBERS):
            place = {"member": f"w{workload}-{member}", "target": f"w{workload}"}
            # In the future, so that they stay new as long as the measurement.
            api.put_member(E, MEMBERS, age_s=-3600, **place)
            api.put_member(S, member + 1, age_s=-3600, **place)


async def _measured(folder: Path, api: PromApi) -> list[Figure]:
    authority = Authority()
    for workload in range(WORKLOADS):
        authority.scale(f"w{workload}", replicas=MEMBERS, running=MEMBERS)
    served = [replace(each, metric=replace(each.metric, refresh_s=REFRESH_S)) for each in SERVED]
    async with adapting(folder, authority, api, served=served) as adapter:
        return await _figures(adapter, api)


async def _figures(adapter: Standing, api: PromApi) -> list[Figure]:
    paths = [
        value_path(metric, query=f"labelSelector=hpa_target_name%3Dw{workload}")
        for workload in range(WORKLOADS)
        for metric in (E, S)
    ]
    await ask(adapter, paths[:WARM])
    gc.collect()
    forget_peak()
    begun_s, cpu_s, queries = time.perf_counter(), time.process_time(), len(api.asked)
    taken = sorted(await ask(adapter, [paths[i % len(paths)] for i in range(ANSWERS)]))
    wall_s, spent_s = time.perf_counter() - begun_s, time.process_time() - cpu_s
    pages = sorted(await ask(adapter, [f"{ROOT}", "/apis"] * 100))
    how = f"{ANSWERS:,} answers about {WORKLOADS:,} workloads with {MEMBERS} members, over TLS"
    return [
        Figure("answers", ANSWERS / spent_s, "/s", f"by CPU, the caller's included; {how}"),
        Figure("half", taken[len(taken) // 2] * 1e3, "ms", how),
        Figure("99 of 100", taken[len(taken) * 99 // 100] * 1e3, "ms", how),
        Figure(
            "queries", (len(api.asked) - queries) / wall_s, "/s", f"{wall_s:.1f} s of questions"
        ),
        Figure(
            "discovery, 99 of 100", pages[len(pages) * 99 // 100] * 1e3, "ms", "both of its forms"
        ),
        Figure("memory", peak_mib(), "MiB", "caller, API server and Prometheus included"),
    ]


async def ask(adapter: Standing, paths: list[str]) -> list[float]:
    """Return how long each takes, one after the other on one connection."""
    listener = adapter.calls
    reader, writer = await asyncio.open_connection(
        listener.host, listener.port, ssl=adapter.pki.front_proxy(), server_hostname="localhost"
    )
    taken = []
    for path in paths:
        begun_s = time.perf_counter()
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n{HPA}\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        await reader.readexactly(size)
        taken.append(time.perf_counter() - begun_s)
        assert head.startswith(b"HTTP/1.1 200"), head
    writer.close()
    await writer.wait_closed()
    return taken
