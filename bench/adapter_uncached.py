"""How long does an answer take for which a real Prometheus is asked first? A thousand workloads of ten members.

What is in the table of a metric counts for no time at all here, so that every answer waits for a query of its own,
while all workloads are queried behind it again and again. Without `prometheus` on the path nothing is measured.
"""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from bench.adapter import MEMBERS, WORKLOADS, ask
from bench.figure import Figure
from tests.adapting import SERVED, Authority, E, S, adapting, value_path
from tests.promapi import PromApi
from tests.prometheus_program import real

ANSWERS: Final = 100
NO_TIME_S: Final = 1e-9
SCRAPE: Final = "5s"


def measure() -> Iterator[Figure]:
    """Yield what answers take that wait for Prometheus."""
    program = shutil.which("prometheus")
    if program is None:
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        real(program, Path(folder), _page(), every=SCRAPE) as url,
    ):
        api = PromApi()
        api.url = url
        yield from asyncio.run(_measured(Path(folder), api))


async def _measured(folder: Path, api: PromApi) -> list[Figure]:
    authority = Authority()
    for workload in range(WORKLOADS):
        authority.scale(f"w{workload}", replicas=MEMBERS, running=MEMBERS)
    served = [replace(each, metric=replace(each.metric, refresh_s=NO_TIME_S)) for each in SERVED]
    async with adapting(folder, authority, api, served=served) as adapter:
        paths = [
            value_path((E, S)[number % 2], query=f"labelSelector=hpa_target_name%3Dw{number * 7}")
            for number in range(ANSWERS)
        ]
        await ask(adapter, paths[:2])
        begun_s = time.perf_counter()
        taken = sorted(await ask(adapter, paths))
        wall_s = time.perf_counter() - begun_s
    how = f"{WORKLOADS:,} workloads of {MEMBERS} members; {ANSWERS} answers in {wall_s:.1f} s"
    return [
        Figure("half", taken[len(taken) // 2] * 1e3, "ms", how),
        Figure("99 of 100", taken[len(taken) * 99 // 100] * 1e3, "ms", how),
    ]


def _page() -> str:
    lines = []
    for workload in range(WORKLOADS):
        for member in range(MEMBERS):
            labels = (
                f'k8s_namespace_name="game",hpa_target_name="w{workload}",'
                f'instance="w{workload}-{member}"'
            )
            lines.append(f"{E}{{{labels}}} {MEMBERS}")
            lines.append(f"{S}{{{labels}}} {member + 1}")
    return "\n".join(lines) + "\n"
