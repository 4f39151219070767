"""How many nodes an estimate may add, and for how long it may search."""

import pytest

from springtide.engine.capacity.limits import (
    Limiter,
    Threshold,
    cluster_room,
    headroom,
    tightest,
)
from tests.estimates import HandClock


def test_l1_a_limit_of_three_allows_three() -> None:
    limiter = Limiter([Threshold(3)], HandClock())

    assert [limiter.permit() for _ in range(4)] == [1, 1, 1, 0]


def test_l2_a_negative_limit_forbids_whatever_the_others_say() -> None:
    limiter = Limiter([Threshold(-1), Threshold(10)], HandClock())

    assert limiter.permit() == 0


def test_l3_a_negative_duration_forbids_whatever_the_others_say() -> None:
    limiter = Limiter([Threshold(0, -1.0), Threshold(0, 3600.0)], HandClock())

    assert limiter.permit() == 0


def test_l4_nothing_is_permitted_after_the_time_until_a_reset() -> None:
    clock = HandClock()
    limiter = Limiter([Threshold(20, 5.0)], clock)
    clock.now_s = 10.0

    late = limiter.permit()
    limiter.reset()

    assert late == 0
    assert limiter.permit() == 1


def test_l5_a_reset_forgets_what_was_granted() -> None:
    limiter = Limiter([Threshold(2)], HandClock())
    granted = [limiter.permit() for _ in range(3)]

    limiter.reset()

    assert granted == [1, 1, 0]
    assert limiter.permit() == 1
    assert limiter.granted == 1


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(0, 5, 5), (5, 0, 5), (5, 3, 3), (-1, 7, -1), (7, -1, -1), (-1, 0, -1), (0, 0, 0)],
)
def test_l6_the_tighter_of_two_bounds_holds(one: int, other: int, expected: int) -> None:
    assert tightest(one, other) == expected


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
