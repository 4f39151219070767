"""The public trace for benchmarks: its nodes and pods, as they lie beside the tests."""

from pathlib import Path

from springtide.engine.trace import Workload, seeded
from springtide.wire.trace import read_nodes, read_pods

OPENB = Path(__file__).resolve().parent.parent / "tests" / "recorded" / "openb"
TRACES = ("default", "multigpu50", "gpuspec33")


def workload(trace: str = "default", *, seed: int = 42, tune: float = 1.3) -> Workload:
    """Return the workload of a seed over a pod list of the trace."""
    nodes, pods = OPENB / "openb_node_list_gpu_node.csv", OPENB / f"openb_pod_list_{trace}.csv"
    return seeded(
        read_nodes(nodes.read_bytes(), source=nodes.name),
        read_pods(pods.read_bytes(), source=pods.name),
        seed=seed,
        tune=tune,
    )
