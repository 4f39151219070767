"""What is found when a node registers that was simulated before."""

import pytest
from msgspec.structs import replace

from springtide.engine.simulation.verification import Outcome, verified
from springtide.model.device import Device, Inventory
from tests.builders import card

PROMISED = Inventory("NVIDIA", (card("template-0"), replace(card("template-1"), index=1)))


def found(**changes: object) -> Inventory:
    """The promised devices under real ids, the second one changed."""
    first, second = (
        replace(each, id=f"GPU-{n}", is_healthy=False) for n, each in enumerate(PROMISED.devices)
    )
    return Inventory("NVIDIA", (first, replace(second, **changes)))


@pytest.mark.parametrize(
    ("has", "outcome"),
    [
        (found(), Outcome.VERIFIED),
        (found(memory_mib=30000), Outcome.EXCEEDS),
        (Inventory("NVIDIA", (*found().devices, card("GPU-2"))), Outcome.EXCEEDS),
    ],
)
def test_as_much_or_more_is_verified(has: Inventory, outcome: Outcome) -> None:
    assert verified(PROMISED, has).outcome is outcome


@pytest.mark.parametrize(
    ("has", "text"),
    [
        (found(memory_mib=1000), "memory_mib of device 1 is 1000, 24576 promised"),
        (found(type="T4"), "type of device 1 is T4, NVIDIA-A10 promised"),
        (found(mode="mig"), "mode of device 1 is mig, hami-core promised"),
        (found(numa=1), "numa of device 1 is 1, 0 promised"),
        (found(links=(("GPU-0", 10),)), "links of device 1 differs"),
        (Inventory("NVIDIA", found().devices[:1]), "1 devices, 2 promised"),
    ],
)
def test_less_or_other_is_a_mismatch_that_says_what_differs(has: Inventory, text: str) -> None:
    answer = verified(PROMISED, has)

    assert answer.outcome is Outcome.MISMATCH
    assert text in answer.differences


def test_links_are_compared_by_position_whatever_the_ids_are() -> None:
    def linked(*ids: str) -> Inventory:
        one, two = (card(each) for each in ids)
        return Inventory("NVIDIA", (_with(one, two.id), _with(two, one.id)))

    def _with(device: Device, other: str) -> Device:
        return replace(device, links=((other, 10),))

    assert verified(linked("a", "b"), linked("x", "y")).outcome is Outcome.VERIFIED
