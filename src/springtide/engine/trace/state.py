"""A recorded cluster while it fills: what is free on each node, one row a node in the order of ranks.

Plain lists, because a placement reads and writes single cells, which arrays make slow. Beside what is
free stands what follows from it and is asked often. Every change of a row is one entry of `log`; there
is no other invalidation. Policies read all of it and write none.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from springtide.engine.trace.shape import Shape
from springtide.model.trace import GPU_MILLI, TraceNode

PODS_MAX: Final = 1001
"""So many pods fit a node of the published experiments."""


class State:
    """What is free, by rows."""

    __slots__ = (
        "cpu_free",
        "gpus_free",
        "idle",
        "kinds",
        "largest_free",
        "log",
        "memory_free",
        "models",
        "pods_on",
        "slots_free",
        "total_free",
    )

    def __init__(self, nodes: Sequence[TraceNode]) -> None:
        self.models = [node.model for node in nodes]
        self.cpu_free = [node.cpu_milli for node in nodes]
        self.memory_free = [node.memory_mib for node in nodes]
        self.slots_free = [PODS_MAX] * len(nodes)
        self.gpus_free = [[GPU_MILLI] * node.gpus for node in nodes]
        self.pods_on = [[0] * node.gpus for node in nodes]
        """How many pods each GPU has."""
        self.largest_free = [GPU_MILLI if node.gpus else 0 for node in nodes]
        """The largest free part of a GPU."""
        self.idle = [node.gpus for node in nodes]
        """How many GPUs are wholly free."""
        self.total_free = [node.gpus * GPU_MILLI for node in nodes]
        self.kinds: list[frozenset[str]] = [frozenset()] * len(nodes)
        """Which kinds of pods with GPUs a node has."""
        self.log: list[int] = []

    def feasible(self, shape: Shape, rows: Iterable[int]) -> list[int]:
        """Return those of the rows that take a pod of this shape."""
        cpu_free, memory_free, slots_free = self.cpu_free, self.memory_free, self.slots_free
        cpu_milli, memory_mib = shape.cpu_milli, shape.memory_mib
        found = [
            row
            for row in rows
            if cpu_free[row] >= cpu_milli and memory_free[row] >= memory_mib and slots_free[row]
        ]
        if not shape.gpus:
            return found
        free, least = self.idle, shape.gpus
        if shape.is_fractional:
            free, least = self.largest_free, shape.gpu_milli
        found = [row for row in found if free[row] >= least]
        if not shape.models:
            return found
        models, allowed = self.models, shape.models
        return [row for row in found if models[row] in allowed]

    def take(self, row: int, shape: Shape, devices: Sequence[int]) -> None:
        """Place a pod on the node's GPUs with these indices; it stays."""
        assert len(set(devices)) == len(devices) == shape.gpus
        self.cpu_free[row] -= shape.cpu_milli
        self.memory_free[row] -= shape.memory_mib
        self.slots_free[row] -= 1
        assert self.cpu_free[row] >= 0
        assert self.memory_free[row] >= 0
        assert self.slots_free[row] >= 0
        if devices:
            self._take_gpus(row, shape, devices)
        self.log.append(row)

    def _take_gpus(self, row: int, shape: Shape, devices: Sequence[int]) -> None:
        free, pods = self.gpus_free[row], self.pods_on[row]
        for device in devices:
            free[device] -= shape.gpu_milli
            pods[device] += 1
            assert free[device] >= 0
        self.largest_free[row] = max(free)
        self.idle[row] = free.count(GPU_MILLI)
        self.total_free[row] -= shape.total_milli
        if shape.kind not in self.kinds[row]:
            self.kinds[row] |= {shape.kind}
