"""How many pods a second find a place on the public GPU trace, under published policies?

The recorded order on 1,213 nodes, whose placements equal those of the published simulator, and a cluster
ten times as large. A rate is of whole replays: decisions, curves and labels. Beside FGD runs the plain
reading of its rules, which asks every node anew for every pod, on the first few pods.
"""

import tracemalloc
from collections.abc import Iterator

from msgspec.structs import replace

from bench.figure import Figure, cpu_s
from springtide.engine.trace import Chance, Replay, Run, Stream, Workload, replayed, seeded
from springtide.policies.published import PUBLISHED
from tests.reference.trace import World
from tests.traces import openb_nodes, openb_pods, openb_recorded

PLAIN_PODS = 12
TIMES = 10
REPLAYS = {
    "FGD": ("default", "fgd"),
    "FGD, models asked for": ("gpuspec33", "fgd"),
    "BestFit": ("default", "bestfit"),
    "HAMi": ("default", "hami-default"),
}


def measure() -> Iterator[Figure]:
    """Yield the rates, how they compare with the plain rules, and what a replay holds."""
    for name, (pods, policy) in REPLAYS.items():
        yield _rate(name, openb_recorded(pods), policy, repeat=3)
    yield _against_plain(openb_recorded("default"))
    large = tenfold()
    yield _rate("FGD, ten-fold", large, "fgd", repeat=1)
    yield _rate("BestFit, ten-fold", large, "bestfit", repeat=1)
    yield _memory(openb_recorded("default"))


def tenfold() -> Workload:
    """Return ten of each node and pod, in the order of a seed, without clones."""
    copies = range(TIMES)
    nodes = [replace(node, name=f"{node.name}-{n}") for n in copies for node in openb_nodes()]
    pods = [replace(pod, name=f"{pod.name}-{n}") for n in copies for pod in openb_pods("default")]
    return seeded(nodes, pods, seed=42, tune=0)


def _rate(name: str, workload: Workload, policy: str, *, repeat: int) -> Figure:
    count = len(workload.arrivals)
    took_s = cpu_s(lambda: _decided(workload, policy, count), repeat=repeat)
    whole_s = cpu_s(lambda: _run(workload, policy), repeat=repeat)
    how = f"{count:,} pods, {len(workload.nodes):,} nodes; decisions alone {count / took_s:,.0f}"
    return Figure(name, count / whole_s, "pods/s", how)


def _against_plain(workload: Workload) -> Figure:
    """Return how many times as many of the first pods are placed as by the plain rules."""
    world = World(workload.nodes, workload.typical, Chance(42, Stream.POLICY))
    first = [workload.pods[index] for index in workload.arrivals[:PLAIN_PODS].tolist()]
    plain_s = cpu_s(lambda: [world.place(pod, "fgd") for pod in first]) / PLAIN_PODS
    count = len(workload.arrivals)
    ours_s = cpu_s(lambda: _decided(workload, "fgd", count), repeat=3) / count
    how = f"{ours_s * 1e6:.0f} µs a pod, plain {plain_s * 1e3:.0f} ms on {PLAIN_PODS} pods"
    return Figure("against the plain rules", plain_s / ours_s, "times", how)


def _memory(workload: Workload) -> Figure:
    tracemalloc.start()
    run = _run(workload, "fgd")
    peak_mib = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return Figure("memory", peak_mib, "MiB", f"at the peak of {run.arrived:,} pods, FGD")


def _run(workload: Workload, policy: str) -> Run:
    return replayed(workload, PUBLISHED[policy], rng=Chance(42, Stream.POLICY))


def _decided(workload: Workload, policy: str, count: int) -> None:
    replay = Replay(workload, PUBLISHED[policy], rng=Chance(42, Stream.POLICY))
    for _ in range(count):
        replay.place()
