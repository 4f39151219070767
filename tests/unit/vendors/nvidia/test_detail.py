"""The numbers behind a refusal, as a part of a sentence."""

import pytest
from msgspec import structs

from springtide.model.device import Device
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import FAMILY
from tests.unit.vendors.nvidia.building import (
    ask,
    card,
    cards,
    container,
    inventory,
    pod,
    used,
    view,
)

Limits = dict[str, str | int]


def detail(limits: Limits, devices: list[Device], notes: dict[str, str] | None = None) -> str:
    wish = ask(pod(container(**limits), annotations=notes))
    answer = FAMILY.place(wish, view(*devices))
    assert isinstance(answer, Refusal)
    return FAMILY.detail(wish, inventory(*devices), answer)


@pytest.mark.parametrize(
    ("limits", "notes", "text"),
    [
        ({"gpu": 1, "mem": 12000}, {}, "12000 MiB asked, 11441 MiB a card"),
        ({"gpu": 9, "mem": 1}, {}, "9 cards asked, 2 on the node"),
        ({"gpu": 1, "mem": 1}, {"nvidia.com/use-gputype": "V100"},
         "type V100 asked; the node has NVIDIA-A10"),
        ({"gpu": 1, "mem": 1}, {"nvidia.com/nouse-gputype": "A10"},
         "type A10 unwanted; the node has NVIDIA-A10"),
        ({"gpu": 1, "mem": 1}, {"nvidia.com/vgpu-mode": "mig"},
         "mode mig asked, hami-core registered; the node has NVIDIA-A10"),
        ({"gpu": 1, "mem": 1}, {"nvidia.com/use-gpuuuid": "GPU-x"},
         "card GPU-x asked; the node has GPU-a, GPU-b"),
        ({"gpu": 1, "mem": 1}, {"nvidia.com/nouse-gpuuuid": "GPU-a,GPU-b"},
         "card GPU-a, GPU-b unwanted; the node has GPU-a, GPU-b"),
    ],
)  # fmt: skip
def test_what_was_asked_stands_beside_what_there_is(
    limits: Limits, notes: dict[str, str], text: str
) -> None:
    assert detail(limits, cards("GPU-a", "GPU-b", memory_mib=11441), notes) == text


def test_cards_of_several_sizes_are_named_as_a_span() -> None:
    devices = [card("a", memory_mib=8192), card("b", memory_mib=11441)]

    assert detail({"gpu": 1, "mem": 12000}, devices) == "12000 MiB asked, 8192 to 11441 MiB a card"


def test_too_few_cores_are_told() -> None:
    assert detail({"gpu": 1, "mem": 1, "cores": 60}, [card(cores=50)]) == (
        "60 cores asked, 50 a card"
    )


def test_sick_and_cordoned_cards_are_named() -> None:
    sick = structs.replace(card("a"), is_healthy=False)
    cordoned = structs.replace(card("b"), is_cordoned=True)

    text = detail({"gpu": 1, "mem": 1}, [sick, cordoned])

    assert text == "unhealthy: a; cordoned: b"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"gpu": 1, "mem": 5000}, "5000 MiB asked, less is free of 24576 MiB a card"),
        (
            {"gpu": 1, "pct": 50},
            "50 % of a card's memory asked, less is free of 24576 MiB a card",
        ),
    ],
)
def test_memory_that_others_hold_is_told_apart_from_memory_that_is_not_there(
    limits: Limits, text: str
) -> None:
    wish = ask(pod(container(**limits)))
    answer = FAMILY.place(wish, view((card(), used(1, 24000))))
    assert isinstance(answer, Refusal)

    assert FAMILY.detail(wish, inventory(card()), answer) == text


def test_taken_slots_and_cores_are_told() -> None:
    wish = ask(pod(container(gpu=1, mem=1, cores=60)))
    full = FAMILY.place(wish, view((card(), used(10))))
    busy = FAMILY.place(wish, view((card(), used(1, 0, 50))))
    assert isinstance(full, Refusal)
    assert isinstance(busy, Refusal)

    assert FAMILY.detail(wish, inventory(card()), full) == "10 containers may share a card"
    assert FAMILY.detail(wish, inventory(card()), busy) == (
        "60 cores asked, fewer are free of 100 a card"
    )


def test_a_refusal_that_explains_itself_is_left_alone() -> None:
    wish = ask(pod(container(gpu=1)))
    refusal = Refusal(rule="NVIDIA", reasons=("x",), detail="because")

    assert FAMILY.detail(wish, inventory(card()), refusal) == "because"
