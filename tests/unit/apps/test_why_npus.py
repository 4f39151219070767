"""NPUs are explained by the same code as cards, through the protocol of device families alone."""

from msgspec.structs import replace

from springtide.apps.why import Request, run
from springtide.apps.why.report import PodWhy
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.wire.documents import Input
from tests.builders import resources
from tests.unit.vendors.ascend.building import chip, chips, container, pod, registered
from tests.world import FixedClock

ROOM = resources({"cpu": 8, "memory": "64Gi", "pods": 110})


def on(*devices: Device) -> Node:
    """Return a node with room, and these chips."""
    return replace(registered(*devices), allocatable=ROOM, capacity=ROOM)


def why(who: Pod, node: Node, *placed: Pod) -> PodWhy:
    """Return the answer about a manifest, as admission would store it."""
    found = Input(nodes=(node,), pods=placed, manifests=(who,))
    (answer,) = run(found, Request(tells_all_nodes=True), clock=FixedClock()).pods
    return answer


def taken(name: str, allocation: str) -> Pod:
    """Return a pod that runs with this allocation."""
    notes = {
        "hami.io/vgpu-node": "n1",
        "hami.io/Ascend910B3-devices-allocated": allocation,
    }
    return replace(pod(name=name, annotations=notes), node_name="n1")


def test_a_slice_is_proposed_in_the_size_of_a_template() -> None:
    busy = taken("busy", "NPU-0,Ascend910B3,32768,10:;")

    answer = why(pod(container(count=1)), on(chip("NPU-0")), busy)

    assert [each.text for each in answer.changes] == [
        "ask huawei.com/Ascend910B3-memory: 32768 instead of 65536"
    ]


def test_chips_that_are_given_in_pairs_are_proposed_in_pairs() -> None:
    modules = on(*chips("a", "b", "c", "d", "e", word="Ascend910C"))

    answer = why(pod(container("main", "Ascend910C", count=8)), modules)

    assert [each.text for each in answer.changes] == ["ask huawei.com/Ascend910C: 4 instead of 8"]


def test_every_chip_has_the_first_reason_that_refuses_it() -> None:
    node = on(chip("NPU-0", is_healthy=False), chip("NPU-1", index=1))
    busy = taken("busy", "NPU-1,Ascend910B3,65536,20:;")

    answer = why(pod(container(count=1, memory=16384)), node, busy)

    devices = answer.verdicts[0].devices[0].devices
    assert [(each.id, each.reason) for each in devices] == [
        ("NPU-0", "CardNotHealth"),
        ("NPU-1", "CardInsufficientMemory"),
    ]


def test_a_node_with_chips_of_another_kind_says_which() -> None:
    answer = why(pod(container("main", "Ascend910C", count=2)), on(*chips("a", "b")))

    assert answer.verdicts[0].sentence == (
        "the node has 2 devices of type Ascend910B3, 2 of another asked"
    )
