"""Registrations and allocations, read and written."""

import pytest
from msgspec import structs

from springtide.model.device import Allocation, Inventory
from springtide.model.node import Node
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import FAMILY
from tests.unit.vendors.nvidia.building import (
    ALLOCATED,
    PAIR_SCORES,
    REGISTER,
    TO_ALLOCATE,
    ask,
    cards,
    container,
    ids,
    inventory,
    pod,
    registered,
    view,
)


def read(node: Node) -> Inventory:
    found = FAMILY.inventory(node)
    assert isinstance(found, Inventory), found
    return found


def decoded(allocated: str, *containers: str, init: int = 0, is_init_done: bool = False) -> object:
    """Return the ids per container of a pod whose containers ask (`gpu`) or not (anything else)."""
    made = [
        container(f"c{i}", gpu=1) if kind == "gpu" else container(f"c{i}")
        for i, kind in enumerate(containers)
    ]
    running = pod(*made[init:], init=made[:init], annotations={ALLOCATED: allocated})
    answer = FAMILY.decode(structs.replace(running, is_init_done=is_init_done))
    return ids(answer) if isinstance(answer, Allocation) else answer


def test_a_node_registers_its_cards() -> None:
    devices = cards("GPU-a", "GPU-b")

    assert read(registered(devices)) == inventory(*devices)


@pytest.mark.parametrize("annotations", [{}, {REGISTER: "[]"}, {REGISTER: "null"}])
def test_a_node_without_cards_has_no_inventory(annotations: dict[str, str]) -> None:
    assert FAMILY.inventory(Node(name="n", annotations=annotations)) is None


@pytest.mark.parametrize(
    ("annotations", "text"),
    [
        (
            {REGISTER: '[{"id":"a","devmem":1.5}]'},
            f"{REGISTER}: [0].devmem is the number 1.5, not a whole number",
        ),
        (
            {REGISTER: '[{"id":"a"}]', PAIR_SCORES: "{}"},
            f"{PAIR_SCORES}: the document is an object, not a list",
        ),
    ],
)
def test_t131_a_malformed_registration_is_a_refusal(annotations: dict[str, str], text: str) -> None:
    refusal = FAMILY.inventory(Node(name="n", annotations=annotations))

    assert isinstance(refusal, Refusal)
    assert refusal.rule == "NVIDIA"
    assert refusal.text == f"device registration malformed: {text}"
    assert refusal.is_unresolvable


def test_cordoned_cards_are_marked() -> None:
    node = registered(cards("a", "b", "c"), **{"hami.io/device-cordon": " b ,, c,"})

    assert [device.is_cordoned for device in read(node).devices] == [False, True, True]


def test_pair_scores_become_links_of_the_first_card_with_that_id() -> None:
    node = registered(
        cards("a", "a", "b"), **{PAIR_SCORES: '[{"uuid":"a","score":{"b":7}},{"uuid":"z"}]'}
    )

    assert [device.links for device in read(node).devices] == [(("b", 7),), (), ()]


def test_both_annotations_are_written_alike() -> None:
    answer = FAMILY.place(
        ask(pod(container("s"), container("m", gpu=2, mem=3000, cores=30))), view(*cards("a", "b"))
    )
    assert isinstance(answer, Allocation)

    written = FAMILY.encode(answer)

    assert written == {
        TO_ALLOCATE: ";b,NVIDIA,3000,30:a,NVIDIA,3000,30:;",
        ALLOCATED: ";b,NVIDIA,3000,30:a,NVIDIA,3000,30:;",
    }


@pytest.mark.parametrize(
    ("allocated", "containers", "expected"),
    [
        ("A,NVIDIA,1,1:;;B,NVIDIA,1,1:;", ("gpu", "-", "gpu"), [["A"], [], ["B"]]),
        ("A,NVIDIA,1,1:;B,NVIDIA,1,1:;", ("gpu", "-", "gpu"), [["A"], [], ["B"]]),
        ("A,NVIDIA,1,1:;", ("-", "gpu"), [[], ["A"]]),
        ("A,NVIDIA,1,1:;", ("-", "-"), [["A"], []]),
        ("A,NVIDIA,1,1:B,NVIDIA,1,1:;", ("gpu",), [["A", "B"]]),
        ("A,NVIDIA,1,1:;B,NVIDIA,1,1:;", ("gpu",), [["A"], ["B"]]),
        ("", ("-",), [[]]),
    ],
)
def test_short_lists_are_dealt_to_the_containers_that_ask(
    allocated: str, containers: tuple[str, ...], expected: list[list[str]]
) -> None:
    assert decoded(allocated, *containers) == expected


def test_a_short_list_does_not_turn_an_app_container_into_an_init_container() -> None:
    running = decoded("A,NVIDIA,1,1:;", "-", "gpu", init=1)
    started = decoded("A,NVIDIA,1,1:;", "-", "gpu", init=1, is_init_done=True)

    assert running == started == [[], ["A"]]


def test_ended_init_containers_hold_nothing() -> None:
    allocated = "A,NVIDIA,1,1:;B,NVIDIA,1,1:;"

    assert decoded(allocated, "gpu", "gpu", init=1) == [["A"], ["B"]]
    assert decoded(allocated, "gpu", "gpu", init=1, is_init_done=True) == [[], ["B"]]


def test_a_pod_without_an_allocation_holds_nothing_that_is_known() -> None:
    assert FAMILY.decode(pod(container(gpu=1))) is None


def test_unknown_cards_are_left_out_of_the_charge() -> None:
    held = pod(container(gpu=1), annotations={ALLOCATED: "gone,NVIDIA,5,5:a,NVIDIA,7,7:;"})
    allocation = FAMILY.decode(held)
    assert isinstance(allocation, Allocation)

    (share,) = FAMILY.shares(allocation, inventory(*cards("a")))

    assert (share.position, share.memory_mib, share.cores, share.slots) == (0, 7, 7, 1)
