"""What of a run is kept for files: what every arrival changed, and where every pod went."""

import msgspec

from springtide.engine.trace import NOWHERE, Run, Workload
from springtide.model.columns import Float64, Int64

FAILED = "-"


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """What had arrived, what was used and what was fragment after every arrival, in GPU milli."""

    arrived_milli: Int64
    used_milli: Int64
    frag_milli: Float64


def steps(run: Run) -> Steps:
    """Return the steps of a run."""
    return Steps(
        arrived_milli=run.arrived_milli, used_milli=run.used_milli, frag_milli=run.frag_milli
    )


def cells(workload: Workload, run: Run) -> tuple[str, ...]:
    """Return where each pod went: the node with the GPUs behind it, `-` for nowhere."""
    return tuple(
        FAILED if row == NOWHERE else cell(workload.nodes[row].name, devices)
        for row, devices in zip(run.nodes.tolist(), run.devices, strict=True)
    )


def cell(node: str, devices: tuple[int, ...]) -> str:
    """Return how a placement is written."""
    return f"{node}:{'-'.join(map(str, devices))}" if devices else node
