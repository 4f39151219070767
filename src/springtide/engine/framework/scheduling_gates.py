"""SchedulingGates: a gated pod never enters the queue, so that no rule is asked about it."""

from springtide.engine.framework.claims import rejection
from springtide.model.pod import PodSpec
from springtide.model.refusal import Refusal


def pre_enqueue(spec: PodSpec) -> Refusal | None:
    """Return what keeps a pod out of the queue (kube-scheduler's PreEnqueue), None if nothing."""
    if not spec.scheduling_gates:
        return None
    gates = " ".join(spec.scheduling_gates)
    return rejection("SchedulingGates", f"waiting for scheduling gates: [{gates}]")
