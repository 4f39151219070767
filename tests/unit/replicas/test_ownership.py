"""Which member owns a key."""

import pytest

from springtide.replicas.ownership import owner_of

KEYS = [f"room-{number}" for number in range(2_000)]


def test_owners_are_the_same_on_every_machine() -> None:
    found = [owner_of(key, 12) for key in ("lobby", "room-1", "room-2", "räume", "")]

    assert found == [4, 11, 1, 3, 6]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12, 40])
def test_growing_by_one_moves_about_one_key_in_count_and_all_of_them_to_the_new_member(
    count: int,
) -> None:
    """Covers R-27 in part."""
    moved = [key for key in KEYS if owner_of(key, count) != owner_of(key, count + 1)]

    share = len(moved) / len(KEYS)
    assert share == pytest.approx(1 / (count + 1), rel=0.35)
    assert {owner_of(key, count + 1) for key in moved} == {count + 1}


def test_every_member_owns_about_as_much_as_the_others() -> None:
    owned = [sum(1 for key in KEYS if owner_of(key, 8) == each) for each in range(1, 9)]

    assert min(owned) > 0.75 * len(KEYS) / 8
    assert max(owned) < 1.25 * len(KEYS) / 8


def test_only_the_keys_of_an_absent_member_move() -> None:
    before = {key: owner_of(key, 8) for key in KEYS}

    after = {key: owner_of(key, 8, absent={3}) for key in KEYS}

    assert {before[key] for key in KEYS if before[key] != after[key]} == {3}
    assert set(after.values()) == {1, 2, 4, 5, 6, 7, 8}


def test_the_only_one_that_is_there_owns_everything() -> None:
    absent = set(range(1, 200)) - {77}

    assert {owner_of(key, 199, absent=absent) for key in KEYS[:50]} == {77}


def test_nobody_owns_a_key_where_nobody_is_there() -> None:
    with pytest.raises(ValueError, match="All of the members 1 to 2 are absent"):
        owner_of("lobby", 2, absent={1, 2})
    with pytest.raises(ValueError, match="at least 1 member"):
        owner_of("lobby", 0)
