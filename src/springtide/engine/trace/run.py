"""What one replay came to: where each pod went, the curves on the way, and the state at the end."""

from collections.abc import Mapping

import msgspec
import numpy as np

from springtide.model.columns import Float64, Int32, Int64
from springtide.model.trace import GPU_MILLI, TraceNode

NOWHERE = -1
"""The row of a pod that fits no node."""


class Capacity(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All that the nodes have together."""

    cpu_milli: int
    memory_mib: int
    gpu_milli: int
    gpus: int


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One replay; arrays have one item an arrival, in the order of arrival.

    `nodes` are rows of the workload's nodes or -1, `devices` the GPUs on them. `arrived_milli`,
    `used_milli` and `frag_milli` stand after the arrival. `labels` say at the end, in GPU milli, what
    idle GPUs are to the typical pods: `q1 q2 q3 q4 xl xr no_access`; all but `q3` are fragments.
    `failed_by_class` counts pods by what they ask: `cpu`, `fractional`, or how many whole GPUs.
    """

    nodes: Int32
    devices: tuple[tuple[int, ...], ...]
    arrived_milli: Int64
    used_milli: Int64
    frag_milli: Float64
    labels: Mapping[str, float]
    cpu_used_milli: int
    memory_used_mib: int
    nodes_used: int
    gpus_touched: int
    capacity: Capacity
    failed_by_class: Mapping[str, int]

    @property
    def arrived(self) -> int:
        """Return how many pods came."""
        return len(self.nodes)

    @property
    def failed(self) -> int:
        """Return how many of them fit nowhere."""
        return int(np.count_nonzero(self.nodes == NOWHERE))


def capacity_of(nodes: tuple[TraceNode, ...]) -> Capacity:
    """Return what these nodes have together."""
    gpus = sum(node.gpus for node in nodes)
    return Capacity(
        cpu_milli=sum(node.cpu_milli for node in nodes),
        memory_mib=sum(node.memory_mib for node in nodes),
        gpu_milli=gpus * GPU_MILLI,
        gpus=gpus,
    )
