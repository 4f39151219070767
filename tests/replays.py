"""Replaying in tests: pods that run where they are said to, and their input."""

from collections.abc import Sequence

from msgspec.structs import replace

from springtide.apps.replay import ReplayReport, Request, run
from springtide.apps.replay.report import DifferenceReport, RunReport
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.wire.documents import Input
from tests.world import FixedClock

BOTH = Request(policy="binpack/spread", against="spread/spread")
ALLOCATED = "hami.io/vgpu-devices-allocated"
VGPU_NODE = "hami.io/vgpu-node"


def created(at: int, like: Pod) -> Pod:
    """Return the pod as one that was created in this second."""
    return replace(like, created=f"2026-11-30T06:00:{at:02}Z")


def running(on: str, like: Pod, *, gpu: str = "", memory: int = 0) -> Pod:
    """Return the pod as it runs on a node, with so much of one card."""
    notes = {VGPU_NODE: on, ALLOCATED: f"{gpu},NVIDIA,{memory},0:;"} if gpu else {}
    annotations = {**like.annotations, **notes}
    return replace(like, node_name=on, phase="Running", annotations=annotations)


def replayed(
    *nodes: Node,
    pods: Sequence[Pod] = (),
    manifests: Sequence[Pod] = (),
    request: Request = BOTH,
    **rest: object,
) -> ReplayReport:
    """Return the report of a replay of these objects."""
    found = Input(nodes=nodes, pods=tuple(pods), manifests=tuple(manifests), **rest)  # type: ignore[arg-type]  # any field
    return run(found, request, clock=FixedClock())


def under(report: ReplayReport, policy: str) -> RunReport:
    """Return the run of a policy."""
    return next(each for each in report.runs if each.policy == policy)


def places(difference: DifferenceReport) -> tuple[str, ...]:
    """Return where a pod went in each run, or why it went nowhere."""
    return tuple(each.node or each.reason for each in difference.decisions)
