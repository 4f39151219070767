"""How long does a replay of 20,000 pods on nodes of 8 cards take, under two policies and as recorded?

The whole answer from decoded input on: the cluster is set up for each policy, every pod of 100 shapes is
placed twice, and the reasons of those that no node takes, the comparison and fragmentation are worked out.
"""

from collections.abc import Iterator

from bench import clusters, world
from bench.figure import Figure, cpu_s
from springtide.apps.replay import ReplayReport, Request, run

PODS = 20_000
SHAPES = 100
REQUEST = Request(policy="binpack/spread", against="spread/binpack")


def measure() -> Iterator[Figure]:
    """Yield the seconds where all pods run, and where most of them find no node."""
    yield _measured("room for all", nodes=5_000, placed=PODS)
    yield _measured("room for a few", nodes=500, placed=0)


def _measured(name: str, *, nodes: int, placed: int) -> Figure:
    dump = clusters.dump(
        nodes=nodes, placed=placed, pending=PODS - placed, shape_count=SHAPES, groups=20
    )
    found = world.read(dump, groups=20)
    reports: list[ReplayReport] = []
    took_s = cpu_s(lambda: reports.append(run(found, REQUEST, clock=world.MonotonicClock())))
    refused = reports[-1].runs[0].refused
    return Figure(name, took_s, "s", f"{nodes} nodes x 8, {PODS} pods, {refused} refused")
