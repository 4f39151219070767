"""SchedulingGates: gates are told in the order in which the pod has them."""

from springtide.engine.framework.scheduling_gates import pre_enqueue
from springtide.model.pod import PodSpec
from tests.unit.engine.framework.asking import unresolvable


def test_a_pod_with_gates_is_kept_out_of_the_queue() -> None:
    gated = pre_enqueue(PodSpec(scheduling_gates=("wait", "example.com/quota")))

    reason = "waiting for scheduling gates: [wait example.com/quota]"
    assert gated == unresolvable("SchedulingGates", reason)


def test_a_pod_without_gates_is_let_in() -> None:
    assert pre_enqueue(PodSpec()) is None
