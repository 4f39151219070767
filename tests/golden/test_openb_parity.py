"""The published simulator's own placements on the public trace, node by node and GPU by GPU.

Beside them stands the table that its authors print: allocation by arrival, failed pods, fragmentation.
"""

from typing import NamedTuple

import pytest

from springtide.engine.trace import Chance, Placed, Replay, Run, Stream, Workload
from springtide.engine.trace.metrics import allocation_pct
from springtide.policies.published import PUBLISHED
from tests.traces import openb_placements, openb_recorded


class Row(NamedTuple):
    """A row of the published table; allocation at 90, 95, 100, 110, 120 and 130 % of arrival."""

    pods: str
    policy: str
    allocation_pct: tuple[float, ...]
    failed: int
    frag_pct: float
    frag_pct_of_idle: float


ROWS = [
    Row("default", "fgd", (89.98, 94.92, 95.14, 95.19, 95.24, 95.29), 2532, 4.69, 99.58),
    Row("default", "bestfit", (89.98, 92.87, 92.94, 93.00, 93.07, 93.13), 2676, 6.80, 99.02),
    Row("default", "gpu-packing", (89.98, 91.30, 91.37, 91.42, 91.49, 91.57), 2794, 8.35, 99.04),
    Row("default", "gpu-clustering", (89.98, 91.26, 91.33, 91.39, 91.45, 91.53), 2797, 8.36, 98.81),
    Row("default", "dotprod", (89.95, 90.27, 90.34, 90.39, 90.46, 90.54), 2874, 9.41, 99.51),
    Row("gpuspec33", "fgd", (80.72, 84.46, 87.87, 94.29, 94.34, 94.39), 2510, 5.53, 98.63),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.pods}-{row.policy}")
def test_every_placement_and_every_printed_figure_is_the_published_one(row: Row) -> None:
    workload = openb_recorded(row.pods)
    replay = Replay(workload, PUBLISHED[row.policy], rng=Chance(42, Stream.POLICY))

    placed = [replay.place() for _ in range(len(workload.arrivals))]

    assert placed == recorded_placements(workload, row)
    assert_figures(replay.run(), row)


def recorded_placements(workload: Workload, row: Row) -> list[Placed]:
    rows = {node.name: index for index, node in enumerate(workload.nodes)}
    return [
        Placed(-1, ()) if each is None else Placed(rows[each.node], each.gpus)
        for each in openb_placements(row.pods, row.policy.replace("-", "_"))
    ]


def assert_figures(run: Run, row: Row) -> None:
    idle_milli = run.capacity.gpu_milli - run.used_milli[-1]
    allocation = allocation_pct(run)[[90, 95, 100, 110, 120, 130]]
    assert tuple(allocation.round(2).tolist()) == row.allocation_pct
    assert run.failed == row.failed
    assert round(100 * run.frag_milli[-1] / run.capacity.gpu_milli, 2) == row.frag_pct
    assert round(100 * run.frag_milli[-1] / idle_milli, 2) == row.frag_pct_of_idle
