"""Constraints among the devices of a claim."""

import pytest

from springtide.engine.dynamic_resources.constraints import Watch, add_all
from springtide.engine.dynamic_resources.pools import Candidate, pools_of
from springtide.model.device_slices import AttributeValue
from springtide.model.resource_claims import DeviceConstraint
from tests.offers import distinct, offered, same, sliced


def device(value: AttributeValue | None) -> Candidate:
    attributes = {} if value is None else {"numa": value}
    (pool,) = pools_of([sliced(offered("x", attributes))])
    (found,) = pool.candidates
    return found


@pytest.mark.parametrize(
    ("constraint", "values", "lets_in"),
    [
        (same("numa"), [0, 0], [True, True]),
        (same("numa"), [0, 1], [True, False]),
        (same("numa"), [1, True], [True, False]),
        (same("numa"), [None], [False]),
        (distinct("numa"), [0, 1, 0], [True, True, False]),
        (distinct("numa"), [None], [False]),
    ],
)
def test_a_constraint_lets_in_devices_by_their_values(
    constraint: DeviceConstraint, values: list[AttributeValue | None], lets_in: list[bool]
) -> None:
    watch = Watch(constraint)

    assert [watch.add("r", device(value)) for value in values] == lets_in


@pytest.mark.parametrize(
    ("name", "concerns"), [("r", True), ("r/s0", True), ("q/s1", True), ("q/s0", False)]
)
def test_a_constraint_names_requests_or_alternatives(name: str, *, concerns: bool) -> None:
    watch = Watch(same("numa", "r", "q/s1"))

    assert watch.add(name, device(None)) != concerns


def test_what_is_taken_back_does_not_count() -> None:
    watch = Watch(same("numa"))
    watch.add("r", device(0))

    watch.remove("r")

    assert watch.add("r", device(1))


def test_a_device_is_let_in_everywhere_or_nowhere() -> None:
    first, second = Watch(same("numa")), Watch(distinct("numa"))
    add_all([second], "r", device(0))

    answers = [add_all([first, second], "r", device(value)) for value in (0, 1)]

    assert answers == [False, True]
