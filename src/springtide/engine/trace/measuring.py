"""From placements to a run: the curves on the way and the state at the end.

It asks nothing about who placed the pods, so placements of a policy, of the live scheduling path and of
a recording are measured alike. Placing more on a GPU or a node than it has is a bug.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from springtide.engine.trace.fragmentation import LABELS, Fragmentation
from springtide.engine.trace.run import NOWHERE, Run
from springtide.engine.trace.shape import KINDS, Shape, shape_of
from springtide.engine.trace.state import PODS_MAX, State
from springtide.engine.trace.workload import Workload
from springtide.model.trace import GPU_MILLI


def measured(
    workload: Workload,
    placed: Sequence[tuple[int, tuple[int, ...]]],
    *,
    fragmentation: Fragmentation | None = None,
) -> Run:
    """Return the run of these placements: a row or -1 and GPUs, for the first arrivals each."""
    shapes = [shape_of(pod) for pod in workload.pods]
    arrivals = [shapes[index] for index in workload.arrivals[: len(placed)].tolist()]
    watch = _Watch(workload, fragmentation or Fragmentation(workload.typical))
    frag_milli = [watch.after(*each) for each in zip(placed, arrivals, strict=True)]
    rows = np.array([row for row, _ in placed], np.int32)
    asked_milli = np.array([shape.total_milli for shape in arrivals], np.int64)
    state, capacity = watch.state, workload.capacity
    return Run(
        nodes=rows,
        devices=tuple(devices for _, devices in placed),
        arrived_milli=np.cumsum(asked_milli),
        used_milli=np.cumsum(np.where(rows == NOWHERE, 0, asked_milli)),
        frag_milli=np.array(frag_milli, np.float64),
        labels=watch.labels(),
        cpu_used_milli=capacity.cpu_milli - sum(state.cpu_free),
        memory_used_mib=capacity.memory_mib - sum(state.memory_free),
        nodes_used=sum(slots < PODS_MAX for slots in state.slots_free),
        gpus_touched=sum(free < GPU_MILLI for gpus in state.gpus_free for free in gpus),
        capacity=capacity,
        failed_by_class=_failed(placed, arrivals),
    )


class _Watch:
    """The cluster while pods are placed again, and what of it is a fragment."""

    def __init__(self, workload: Workload, fragmentation: Fragmentation) -> None:
        self.state = State(workload.nodes)
        self._fragmentation = fragmentation
        self._amounts = [self._amount(row) for row in range(len(workload.nodes))]
        self._total = sum(self._amounts)

    def after(self, placed: tuple[int, tuple[int, ...]], shape: Shape) -> float:
        """Place one pod; return how much of the cluster is a fragment then."""
        row, devices = placed
        if row != NOWHERE:
            self.state.take(row, shape, devices)
            amount = self._amount(row)
            self._total += amount - self._amounts[row]
            self._amounts[row] = amount
        return self._total

    def labels(self) -> dict[str, float]:
        """Return what the idle GPUs of the cluster are now."""
        rows = range(len(self._amounts))
        parts = [self._fragmentation.labels(*self._node(row)) for row in rows]
        return dict(zip(LABELS, map(sum, zip(*parts, strict=True)), strict=True))

    def _amount(self, row: int) -> float:
        return self._fragmentation.amount(*self._node(row))

    def _node(self, row: int) -> tuple[str, int, tuple[int, ...]]:
        state = self.state
        level = self._fragmentation.level(state.cpu_free[row])
        return state.models[row], level, tuple(sorted(state.gpus_free[row]))


def _failed(
    placed: Sequence[tuple[int, tuple[int, ...]]], arrivals: Sequence[Shape]
) -> dict[str, int]:
    """Return how many pods of each kind fit nowhere."""
    pairs = zip(placed, arrivals, strict=True)
    counts = Counter(shape.kind for (row, _), shape in pairs if row == NOWHERE)
    return {kind: counts[kind] for kind in dict.fromkeys([*KINDS, *sorted(counts)])}
