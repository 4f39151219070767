"""Numbers that members keep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.replicas.allocation import allocate


@pytest.mark.parametrize(
    ("taken", "index"),
    [
        ({}, 1),
        ({1: "a", 2: "b"}, 3),
        ({1: "a", 3: "c"}, 2),
        ({2: "b"}, 1),
        ({1: "a", 3: "own"}, 3),
        ({5: "own", 3: "own"}, 3),
    ],
)
def test_a_member_keeps_its_number_or_takes_the_lowest_that_is_free(
    taken: dict[int, str], index: int
) -> None:
    """Covers R-33 in part."""
    assert allocate(taken, "own") == index


@given(st.lists(st.sampled_from("abcdef"), max_size=30))
def test_nobody_moves_and_no_number_has_two_holders(turns: list[str]) -> None:
    """A turn starts a member that is away, and stops one that is there."""
    held: dict[str, int] = {}
    for name in turns:
        if name in held:
            del held[name]
            continue
        taken = {index: holder for holder, index in held.items()}

        index = allocate(taken, name)

        assert index not in taken
        assert set(range(1, index)) <= taken.keys()
        held[name] = index
