"""How many nodes an estimate may add, and for how long it may search."""

import pytest

from springtide.engine.capacity.limits import (
    Limiter,
    Threshold,
    cluster_room,
    headroom,
)
from tests.estimates import HandClock


def test_many_nodes_are_granted_as_far_as_the_limit_goes() -> None:
    limiter = Limiter([Threshold(5)], HandClock())

    assert [limiter.permit(3), limiter.permit(3), limiter.permit(3)] == [3, 2, 0]


def test_without_a_bound_everything_is_granted() -> None:
    limiter = Limiter([Threshold(), Threshold()], HandClock())

    assert limiter.permit(10_000) == 10_000


@pytest.mark.parametrize(
    ("room", "expected"),
    [([(10, 3)], 7), ([(10, 3), (5, 4)], 8), ([(3, 3)], -1), ([(3, 9), (5, 4)], 1), ([], -1)],
)
def test_headroom_is_what_groups_may_still_grow(room: list[tuple[int, int]], expected: int) -> None:
    assert headroom(room) == Threshold(expected)


@pytest.mark.parametrize(
    ("total_max", "count", "expected"), [(0, 50, 0), (10, 4, 6), (10, 10, -1), (10, 12, -1)]
)
def test_the_cluster_has_room_up_to_its_largest_size(
    total_max: int, count: int, expected: int
) -> None:
    assert cluster_room(total_max, count) == Threshold(expected)
