"""What users saw go wrong in the field, by number of the case, and how it is explained."""

import json

from msgspec.structs import replace

from springtide.apps.why import Request, run
from springtide.apps.why.report import NodesVerdict, PodWhy
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.wire.documents import Input
from tests.builders import REGISTRATION, card, group, node, pod
from tests.explaining import running
from tests.world import FixedClock


def why(who: Pod, *nodes: Node, placed: tuple[Pod, ...] = ()) -> PodWhy:
    """Return the answer about a pod."""
    found = Input(nodes=nodes, pods=(*placed, who))
    (answer,) = run(found, Request(tells_all_nodes=True), clock=FixedClock()).pods
    return answer


def on(answer: PodWhy, name: str) -> NodesVerdict:
    """Return what one node says."""
    (found,) = (each for each in answer.verdicts if each.nodes == (name,))
    return found


def with_cards(name: str, *devices: Device) -> Node:
    """Return a node with these cards."""
    return node(name, cards=devices)


def test_fc_005_a_bare_count_wants_a_card_that_nobody_uses() -> None:
    taken = running("r", "n1", card="GPU-0", gpumem=1000, gpucores=10)

    answer = why(pod("p", gpu=1, gpucores=100), with_cards("n1", card()), placed=(taken,))

    assert on(answer, "n1").reason == "1/1 CardInsufficientMemory"
    assert answer.changes[0].text == "ask nvidia.com/gpumem-percentage: 95 instead of 100"


def test_fc_006_all_cores_are_an_exclusive_claim() -> None:
    taken = running("r", "n1", card="GPU-0", gpumem=1000)

    answer = why(
        pod("p", gpu=1, gpumem=10, gpucores=100), with_cards("n1", card()), placed=(taken,)
    )

    assert on(answer, "n1").reason == "1/1 ExclusiveDeviceAllocateConflict"
    assert answer.changes[0].text == "ask nvidia.com/gpucores: 99 instead of 100"


def test_fc_008_a_byte_suffix_is_refused_with_what_to_write() -> None:
    who = pod("suffix", gpu=1, others={"nvidia.com/gpumem": "16Gi"})

    answer = why(who, with_cards("n1", card()))

    assert not answer.fits
    assert "nvidia.com/gpumem: 16Gi" in answer.chain
    assert "write 16384" in answer.chain


def test_fc_009_the_list_of_types_to_avoid_counts_beside_the_one_to_use() -> None:
    notes = {"nvidia.com/use-gputype": "A10", "nvidia.com/nouse-gputype": "A100"}
    nodes = (
        with_cards("n1", card("a", model="NVIDIA-NVIDIA A10")),
        with_cards("n2", card("b", model="NVIDIA-NVIDIA A100-SXM4-80GB", memory=81_920)),
    )

    answer = why(pod("a10-only", gpu=1, gpumem=8000, annotations=notes), *nodes)

    assert on(answer, "n1").fits
    assert on(answer, "n2").reason == "1/1 CardTypeMismatch"


def test_fc_010_a_card_that_is_not_named_is_no_card_for_the_pod() -> None:
    notes = {"nvidia.com/use-gpuuuid": "GPU-x"}

    answer = why(pod("p", gpu=1, gpumem=10, annotations=notes), with_cards("n1", card()))

    assert on(answer, "n1").reason == "1/1 CardUuidMismatch"
    assert answer.changes[0].subject == "nvidia.com/use-gpuuuid"


def test_fc_028_a_card_without_a_health_flag_is_unhealthy() -> None:
    registered = json.dumps([{"id": "GPU-a", "count": 10, "devmem": 100, "type": "NVIDIA-A10"}])
    silent = node("n1", annotations={REGISTRATION: registered})

    answer = why(pod("p", gpu=1, gpumem=10), silent)

    assert on(answer, "n1").reason == "1/1 CardNotHealth"
    assert on(answer, "n1").devices[0].devices[0].reason == "CardNotHealth"


def test_fc_030_a_percentage_is_one_of_each_card() -> None:
    taken = tuple(running(f"r{each}", "n1", card=each, gpumem=6000) for each in ("small", "large"))
    nodes = with_cards("n1", card("small", memory=8000), card("large", memory=24_000))
    who = pod("p", gpu=1, others={"nvidia.com/gpumem-percentage": 80})

    answer = why(who, nodes, placed=taken)

    assert answer.changes[0].text == "ask nvidia.com/gpumem-percentage: 75 instead of 80"


def test_fc_036_an_allocation_that_cannot_be_read_closes_its_node() -> None:
    odd = running("odd", "n1", card="GPU-a")
    unread = replace(
        odd,
        annotations={**odd.annotations, "hami.io/vgpu-devices-allocated": "GPU-a,NVIDIA,abc,0:;"},
    )
    nodes = (with_cards("n1", card("GPU-a")), with_cards("n2", card("GPU-b")))

    answer = why(pod("p", gpu=1, gpumem=1000), *nodes, placed=(unread,))

    assert on(answer, "n2").fits
    assert "device allocation of pod" in on(answer, "n1").reason


def test_fc_039_every_node_that_does_not_fit_has_its_reason() -> None:
    nodes = (
        with_cards("t-small", card("s", memory=8192)),
        with_cards("t-mid", card("m", memory=16_384)),
        node("t-bad", annotations={REGISTRATION: "{not json"}),
        node("t-none"),
        with_cards("t-big", card("b", memory=81_920)),
    )

    answer = why(pod("p", gpu=1, gpumem=10_000), *nodes)

    assert [each.nodes[0] for each in answer.verdicts if each.fits] == ["t-mid", "t-big"]
    assert on(answer, "t-small").reason == "1/1 CardInsufficientMemory"
    assert on(answer, "t-bad").reason.startswith("device registration malformed")
    assert on(answer, "t-none").reason == "node unregistered"


def test_fc_045_a_node_with_free_counts_and_full_memory_needs_another_of_its_group() -> None:
    full = node("g-1", cards=[card(memory=15_360)], provider_id="g-1")
    taken = running("r", "g-1", card="GPU-0", gpumem=15_000)
    found = Input(
        nodes=(full,),
        pods=(taken, pod("p", gpu=1, gpumem=2000)),
        groups=(group("g", max_size=3),),
    )

    (answer,) = run(found, Request(), clock=FixedClock()).pods

    assert answer.verdicts[0].reason == "1/1 CardInsufficientMemory"
    assert answer.changes[0].text == "add 1 more node to group g (1 → 2)"
