"""The devices of a new node, agreed upon by those that exist."""

import pytest
from msgspec.structs import replace

from springtide.engine.simulation.homogeneity import agreed
from springtide.model.device import Device, Inventory
from springtide.model.profile import Homogeneity
from springtide.model.refusal import Refusal
from tests.builders import card, mig_card

STRICT, MINIMUM, MAJORITY = Homogeneity.STRICT, Homogeneity.MINIMUM, Homogeneity.MAJORITY


def samples(*nodes: tuple[Device, ...]) -> list[tuple[str, Inventory]]:
    return [(f"n{index}", Inventory("NVIDIA", devices)) for index, devices in enumerate(nodes)]


def devices(answer: Inventory | Refusal) -> tuple[Device, ...]:
    assert isinstance(answer, Inventory)
    return answer.devices


def refusal(answer: Inventory | Refusal) -> str:
    assert isinstance(answer, Refusal)
    assert answer.rule == "NVIDIA"
    assert answer.is_unresolvable
    return answer.text


@pytest.mark.parametrize("policy", list(Homogeneity))
def test_what_a_node_has_of_its_own_is_reset(policy: Homogeneity) -> None:
    first = (card("GPU-a"), card("GPU-b", is_healthy=False))
    second = (replace(card("GPU-c"), is_cordoned=True), card("GPU-d"))

    answer = devices(agreed("g", samples(first, second), policy))

    assert [each.id for each in answer] == ["template-g-0", "template-g-1"]
    assert all(each.is_healthy and not each.is_cordoned for each in answer)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (card(memory=16384), "memory_mib of device 0 is 24576 on n0, 16384 on n1"),
        (card(cores=50), "cores of device 0 is 100 on n0, 50 on n1"),
        (card(slots=4), "slots of device 0 is 10 on n0, 4 on n1"),
        (card(model="NVIDIA-T4"), "type of device 0 is 'NVIDIA-A10' on n0, 'NVIDIA-T4' on n1"),
    ],
)
def test_strict_refuses_what_differs_and_says_where(other: Device, difference: str) -> None:
    answer = agreed("g", samples((card(),), (other,)), STRICT)

    assert refusal(answer) == f"device profile heterogeneous: {difference}"


def test_strict_refuses_other_numbers_of_devices() -> None:
    answer = agreed("g", samples((card(),), (card(), card("GPU-1"))), STRICT)

    assert refusal(answer) == "device profile heterogeneous: 1 devices on n0, 2 on n1"


def test_strict_refuses_other_mig_shapes() -> None:
    other = replace(mig_card(), mig_profiles=mig_card().mig_profiles[:1])

    answer = agreed("g", samples((mig_card(),), (other,)), STRICT)

    assert refusal(answer) == "device profile heterogeneous: mig_profiles of device 0 on n0 and n1"


def linked(first: str, second: str, score: int) -> tuple[Device, ...]:
    return (
        replace(card(first), links=((second, score),)),
        replace(card(second), links=((first, score),)),
    )


def test_links_agree_by_position_whatever_the_ids() -> None:
    answer = devices(agreed("g", samples(linked("a", "b", 9), linked("x", "c", 9)), STRICT))

    assert [each.links for each in answer] == [(("template-g-1", 9),), (("template-g-0", 9),)]


def test_strict_refuses_other_links() -> None:
    answer = agreed("g", samples(linked("a", "b", 9), linked("a", "b", 5)), STRICT)

    assert refusal(answer) == "device profile heterogeneous: links of device 0 on n0 and n1"


def test_links_to_devices_that_the_node_does_not_have_are_dropped() -> None:
    lonely = replace(card("a"), links=(("elsewhere", 3),))

    assert devices(agreed("g", samples((lonely,)), STRICT))[0].links == ()


@pytest.mark.parametrize("policy", list(Homogeneity))
def test_a_numa_node_that_samples_disagree_on_is_unknown(policy: Homogeneity) -> None:
    one = (card("a", numa=0), card("b", numa=0), card("c", numa=1))
    other = (card("a", numa=0), card("b", numa=1), card("c", numa=0))

    answer = devices(agreed("g", samples(one, other), policy))

    known, *unknown = [each.numa for each in answer]
    assert known == 0
    assert all(each < 0 for each in unknown)
    assert len(set(unknown)) == 2


def test_minimum_takes_the_weakest_of_every_position() -> None:
    one = (card(memory=24576, slots=4), card("GPU-1"), card("GPU-2"))
    other = (card(memory=16384, slots=10, model="NVIDIA-T4"), card("GPU-1", cores=50))

    first, second = devices(agreed("g", samples(one, other), MINIMUM))

    assert (first.memory_mib, first.slots, first.type) == (16384, 4, "NVIDIA-T4")
    assert (second.memory_mib, second.cores) == (24576, 50)


def test_minimum_links_only_to_devices_that_are_left() -> None:
    wide = (
        replace(card("a"), links=(("b", 1), ("c", 2))),
        replace(card("b"), links=(("a", 1),)),
        card("c"),
    )
    narrow = (card("a"), card("b"))

    answer = devices(agreed("g", samples(wide, narrow), MINIMUM))

    ids = {each.id for each in answer}
    assert all(other in ids for each in answer for other, _ in each.links)


def test_minimum_cannot_mix_modes() -> None:
    answer = agreed("g", samples((card(),), (mig_card(),)), MINIMUM)

    assert refusal(answer) == "device profile heterogeneous: mode of device 0 differs on n0, n1"


def test_majority_takes_what_more_than_half_of_the_nodes_have() -> None:
    common, rare = (card(memory=16384),), (card(memory=24576),)

    answer = devices(agreed("g", samples(rare, common, common), MAJORITY))

    assert [each.memory_mib for each in answer] == [16384]


def test_half_is_no_majority() -> None:
    answer = agreed("g", samples((card(memory=1),), (card(memory=2),)), MAJORITY)

    assert refusal(answer) == (
        "device profile heterogeneous: no inventory is on more than half of the 2 nodes"
    )
