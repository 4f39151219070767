"""How many nodes that fit are enough."""

import pytest

from springtide.engine.scoring.sampling import nodes_to_find


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, 0), (10, 10), (99, 99), (100, 100), (200, 100), (1000, 420), (2500, 750), (5000, 500),
        (6000, 300), (15000, 750),
    ],
)  # fmt: skip
def test_the_share_falls_with_the_number_of_nodes(count: int, expected: int) -> None:
    assert nodes_to_find(count) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [(200, 100), (1000, 400), (2500, 1000), (5000, 2000), (6000, 2400), (15000, 6000)],
)
def test_a_share_may_be_given(count: int, expected: int) -> None:
    assert nodes_to_find(count, percentage=40) == expected


def test_a_share_of_all_finds_all() -> None:
    assert nodes_to_find(1234, percentage=100) == 1234
