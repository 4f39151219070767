"""What requests consume of capacities."""

import pytest

from springtide.base import quantity
from springtide.engine.dynamic_resources.capacity import consumed, has_room
from springtide.model.device_slices import RequestPolicy, RequestRange
from tests.offers import offered

GIB = quantity.parse("1Gi").nano


def size(text: str) -> quantity.Quantity:
    return quantity.parse(text)


VALUES = RequestPolicy(default=size("2Gi"), values=(size("2Gi"), size("4Gi"), size("8Gi")))
STEPS = RequestPolicy(
    default=size("1Gi"), range=RequestRange(low=size("1Gi"), high=size("8Gi"), step=size("2Gi"))
)


@pytest.mark.parametrize(
    ("policy", "asked", "gib"),
    [
        (None, None, 16),
        (None, 3, 3),
        (None, 17, None),
        (RequestPolicy(default=size("2Gi")), None, 2),
        (RequestPolicy(default=size("2Gi")), 9, 9),
        (VALUES, None, 2),
        (VALUES, 3, 4),
        (VALUES, 9, None),
        (STEPS, 0, 1),
        (STEPS, 2, 3),
        (STEPS, 3, 3),
        (STEPS, 8, None),
        (RequestPolicy(range=RequestRange(low=size("4Gi"))), 1, 4),
        (RequestPolicy(range=RequestRange(low=size("4Gi"))), 5, 5),
        (RequestPolicy(range=RequestRange(high=size("4Gi"))), 5, None),
        (RequestPolicy(range=RequestRange(step=size("2Gi"))), 5, None),
        (RequestPolicy(range=RequestRange(step=size("2Gi"))), 6, 6),
    ],
)
def test_what_is_asked_is_rounded_up_by_the_policy(
    policy: RequestPolicy | None, asked: int | None, gib: int | None
) -> None:
    device = offered("x", capacity={"memory": "16Gi"}, policy=policy)

    amounts = consumed(device, {} if asked is None else {"memory": asked * GIB})

    assert amounts == (None if gib is None else {"memory": gib * GIB})


def test_a_capacity_that_the_device_lacks_cannot_be_asked() -> None:
    device = offered("x", capacity={"memory": "16Gi"})

    assert consumed(device, {"cores": 1}) is None


def test_there_is_room_up_to_the_last_unit() -> None:
    device = offered("x", capacity={"memory": "16Gi"})

    assert has_room(device, {"memory": 6 * GIB}, {"memory": 10 * GIB})
    assert not has_room(device, {"memory": 6 * GIB + 1}, {"memory": 10 * GIB})
