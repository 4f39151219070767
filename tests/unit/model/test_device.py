"""MIG placements and views."""

import pytest

from springtide.model.device import Inventory, MigPlacement, Share, Use, empty_view
from tests.builders import cards


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ((0, 4), (4, 4), False),
        ((0, 4), (3, 1), True),
        ((2, 2), (0, 8), True),
        ((5, 1), (4, 1), False),
    ],
)
def test_placements_overlap_if_they_share_a_slice(
    one: tuple[int, int], two: tuple[int, int], *, expected: bool
) -> None:
    first, second = MigPlacement(*one), MigPlacement(*two)

    assert first.overlaps(second) is expected
    assert second.overlaps(first) is expected


def test_an_empty_view_uses_nothing() -> None:
    view = empty_view(Inventory("NVIDIA", cards(2)))

    assert view.uses == (Use(), Use())


def test_equal_views_are_equal_keys() -> None:
    one = empty_view(Inventory("NVIDIA", cards(2)))
    two = empty_view(Inventory("NVIDIA", cards(2)))
    share = (Share(position=1, memory_mib=5),)

    assert len({one.plus(share), two.plus(share), one}) == 2
