"""Where the devices of a node come from, and which nodes have the identical devices."""

import pytest
from msgspec.structs import replace

from springtide.apps.planner.families import Policies, families
from springtide.engine.simulation.supply import Supplier, Supply
from springtide.model.device import Device, Inventory
from springtide.wire.hami import register
from tests.builders import REGISTRATION, card, node

SCORES = "hami.io/node-nvidia-score"
PAIR = (card("GPU-0"), card("GPU-1"))


def supplied(supplier: Supplier, *devices: Device, **notes: str) -> Supply:
    """What is found on a node with these cards."""
    made = node(cards=devices, annotations=notes)
    texts = tuple(each for each in made.annotations.items() if each[0] in supplier.annotations)
    return supplier.supply(made, texts)


def supplier(*, parts: bool = True) -> Supplier:
    """One that parts registrations, or reads all of them."""
    return Supplier(families(None, Policies()), part=register.parted if parts else None)


def cards_of(supply: Supply) -> tuple[Device, ...]:
    """The cards that were found."""
    found = dict(supply.found)["NVIDIA"]
    assert isinstance(found, Inventory)
    return found.devices


def test_nodes_that_differ_in_ids_and_health_have_the_identical_devices() -> None:
    asked = supplier()

    one = supplied(asked, *PAIR)
    other = supplied(asked, *(replace(each, id=f"x{each.id}") for each in PAIR))
    sick = supplied(asked, *(replace(each, is_healthy=False) for each in PAIR))

    assert dict(one.found)["NVIDIA"] is dict(other.found)["NVIDIA"] is dict(sick.found)["NVIDIA"]
    assert [each for each, _ in other.ids] == ["xGPU-0", "xGPU-1"]


@pytest.mark.parametrize(
    "change",
    [
        {"memory_mib": 1}, {"cores": 1}, {"slots": 1}, {"type": "T4"}, {"numa": 1}, {"mode": "mps"},
        {"index": 5}, {"id": "GPU-0"}, {"network": 3},
    ],
)  # fmt: skip
def test_whatever_else_differs_is_told_apart(change: dict[str, object]) -> None:
    asked = supplier()
    other = (PAIR[0], replace(PAIR[1], **change))

    found = [cards_of(supplied(asked, *devices)) for devices in (PAIR, other)]
    read = [cards_of(supplied(supplier(parts=False), *devices)) for devices in (PAIR, other)]

    assert found[0] != found[1]
    assert found == read


def test_links_go_by_position() -> None:
    def scored(one: str, two: str, *, score: int) -> Supply:
        text = (
            f'[{{"uuid":"{one}","score":{{"{two}":{score}}}}},'
            f'{{"uuid":"{two}","score":{{"{one}":{score}}}}}]'
        )
        return supplied(asked, card(one), card(two), **{SCORES: text})

    asked = supplier()

    near, far, alike = (
        cards_of(scored(one, two, score=score))
        for one, two, score in (("a", "b", 100), ("a", "b", 10), ("x", "y", 100))
    )

    assert near[0].links
    assert near != far
    assert near is alike


def test_what_merely_looks_like_an_id_is_read() -> None:
    asked = supplier()
    texts = ['[{"type":"x\\"id\\":\\"","id":"a"}]', '[{"id":"a\\u0000"}]', '[{"id":"']

    found = [
        asked.supply(node(annotations={REGISTRATION: text}), ((REGISTRATION, text),))
        for text in texts
    ]

    read = supplier(parts=False)
    assert [each.found for each in found] == [
        read.supply(node(annotations={REGISTRATION: text}), ((REGISTRATION, text),)).found
        for text in texts
    ]
