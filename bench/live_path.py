"""How many pods a second does the live path place under the policies that are recommended?

The public trace, pod by pod through classes, tables, the policy `fragmentation`, exact placement and the
ledger, in one thread. A second figure is for four times as many nodes, 4,852 with 24,848 GPUs. Beside them
stands the same path under HAMi's policies, which look at loads alone.
"""

from collections.abc import Iterator
from itertools import count

from msgspec.structs import replace

from bench.figure import Figure, cpu_s
from springtide.apps.bench.live import LiveReplay
from springtide.apps.planner.families import SHIPPED, Policies
from springtide.engine.trace import Workload, seeded
from tests.traces import openb_nodes, openb_pods

TIMES = 4
PLACED_MAX = 20_000


def measure() -> Iterator[Figure]:
    """Yield the rates on the trace as it is and on a larger cluster."""
    found = seeded(openb_nodes(), openb_pods("default"), seed=42, tune=1.3)
    yield _figure("prod", found, SHIPPED)
    yield _figure("binpack and spread", found, Policies())
    yield _figure("prod, four times the nodes", _larger(found), SHIPPED)


def _figure(name: str, found: Workload, policies: Policies) -> Figure:
    replay = LiveReplay(found, policies)
    pods = min(len(found.arrivals), PLACED_MAX)

    def place_all() -> None:
        for _ in range(pods):
            replay.place()

    took_s = cpu_s(place_all)
    placed = sum(row >= 0 for row, _ in replay.placed)
    how = (
        f"{placed:,} of {pods:,} pods placed on {len(found.nodes):,} nodes in {took_s:.2f} s of CPU"
    )
    return Figure(name, pods / took_s, "pods/s", how)


def _larger(found: Workload) -> Workload:
    """Return the workload of so many times the nodes and pods."""
    number = count()
    nodes = [replace(node, name=f"{node.name}-{next(number)}") for node in found.nodes * TIMES]
    pods = [replace(pod, name=f"{pod.name}-{next(number)}") for pod in found.pods * TIMES]
    return seeded(nodes, pods, seed=42, tune=0)
