"""New nodes spread over similar groups (cases G1 to G7 of the peer's own tests)."""

import pytest

from springtide.engine.capacity.balancing import Room, balance


def rooms(*sizes: tuple[int, int]) -> list[Room]:
    return [
        Room(name=f"ng{index}", size=size, max_size=maximum)
        for index, (size, maximum) in enumerate(sizes, start=1)
    ]


def after(given: list[Room], count: int) -> list[int]:
    grown = dict(balance(given, count))
    return [room.size + grown.get(room.name, 0) for room in given]


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (1, [2, 3, 5, 5]),
        (2, [3, 3, 5, 5]),
        (4, [4, 4, 5, 5]),
        (5, [5, 4, 5, 5]),
        (10, [6, 6, 6, 6]),
    ],
)
def test_the_smallest_groups_grow_first(count: int, sizes: list[int]) -> None:
    given = rooms((1, 10), (3, 10), (5, 10), (5, 10))

    assert after(given, count) == sizes


def test_a_full_group_gets_nothing() -> None:
    assert balance(rooms((1, 1)), 1) == []


@pytest.mark.parametrize(("count", "size"), [(1, 2), (2, 3), (5, 3)])
def test_no_group_grows_beyond_its_maximum(count: int, size: int) -> None:
    assert after(rooms((1, 1), (1, 3)), count) == [1, size]


@pytest.mark.parametrize(
    ("given", "count", "sizes"),
    [
        (rooms((1, 3), (3, 10)), 4, [3, 5]),
        (rooms((1, 3), (3, 10), (5, 7)), 9, [3, 8, 7]),
        (rooms((1, 3), (3, 10), (5, 7)), 900, [3, 10, 7]),
    ],
)
def test_what_a_full_group_cannot_take_the_others_get(
    given: list[Room], count: int, sizes: list[int]
) -> None:
    assert after(given, count) == sizes


def test_a_group_above_its_maximum_is_left_alone() -> None:
    assert balance(rooms((1, 3), (6, 3)), 1) == [("ng1", 1)]


def test_after_one_is_full_the_first_of_equals_takes_its_turn() -> None:
    given = rooms((1, 9), (1, 9), (1, 1 + 1), (1, 9))

    assert after(given, 8) == [3, 4, 2, 3]
