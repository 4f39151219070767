"""The public trace as it lies in the tree, and small traces written out."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from springtide.engine.trace import Workload, recorded
from springtide.model.trace import TraceNode, TracePod
from springtide.wire.trace import (
    TracePlacement,
    read_arrivals,
    read_nodes,
    read_placements,
    read_pods,
    read_ranks,
)

TRACE = Path(__file__).parent / "recorded" / "openb"


@cache
def openb_nodes() -> tuple[TraceNode, ...]:
    """Return the nodes with GPUs of the public trace."""
    path = TRACE / "openb_node_list_gpu_node.csv"
    return read_nodes(path.read_bytes(), source=path.name)


@cache
def openb_pods(name: str) -> tuple[TracePod, ...]:
    """Return a pod list of the public trace: `default`, `multigpu50` or `gpuspec33`."""
    path = TRACE / f"openb_pod_list_{name}.csv"
    return read_pods(path.read_bytes(), source=path.name)


def openb_recorded(pods: str) -> Workload:
    """Return the recorded order and ranks over a pod list."""
    order = TRACE / "golden" / "default_t13_s42_arrivals.csv"
    ranks = TRACE / "golden" / "default_t13_s42_noderank.csv"
    arrivals = read_arrivals(order.read_bytes(), source=order.name)
    return recorded(
        openb_nodes(),
        openb_pods(pods),
        arrivals=((arrival.pod, arrival.is_clone) for arrival in arrivals),
        ranks=read_ranks(ranks.read_bytes(), source=ranks.name),
    )


def openb_placements(pods: str, policy: str) -> tuple[TracePlacement | None, ...]:
    """Return where the recorded arrivals went under a policy."""
    return _placements(f"{pods}_t13_s42_placements.csv")[policy]


@cache
def _placements(name: str) -> Mapping[str, tuple[TracePlacement | None, ...]]:
    return read_placements((TRACE / "golden" / name).read_bytes(), source=name)


def trace_node(
    name: str = "n", *, cpu: int = 64_000, memory: int = 1000, gpus: int = 2, model: str = "T4"
) -> TraceNode:
    """Return a node of a trace."""
    return TraceNode(name=name, cpu_milli=cpu, memory_mib=memory, gpus=gpus, model=model)


def trace_pod(
    name: str = "p",
    *,
    cpu: int = 1000,
    memory: int = 1,
    gpus: int = 1,
    milli: int = 1000,
    models: tuple[str, ...] = (),
) -> TracePod:
    """Return a pod of a trace, which takes a whole GPU."""
    return TracePod(
        name=name, cpu_milli=cpu, memory_mib=memory, gpus=gpus, gpu_milli=milli, models=models
    )


def in_order(nodes: Sequence[TraceNode], pods: Sequence[TracePod]) -> Workload:
    """Return a workload in which pods come and nodes rank in the order given."""
    return recorded(
        nodes,
        pods,
        arrivals=((pod.name, False) for pod in pods),
        ranks=[node.name for node in nodes],
    )
