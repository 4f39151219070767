"""The example service in bad weather: kills, pauses, cuts, wrong clocks and wiped stores, from seeds.

`python tools/rooms.py --seeds 500` lives many more; a seed that went wrong there stays here.
"""

import pytest

from tests.rooms.living import live
from tests.rooms.town import Shape

FEW = Shape(rooms=12, users=3, seconds=200.0)
"""A short life, so that many of them fit into a test."""
SEEDS = range(1, 13)
LONG = (5, 22)


@pytest.mark.parametrize("seed", SEEDS)
def test_in_bad_weather_no_room_is_lost_and_none_has_two_owners(seed: int) -> None:
    """Covers R-28 in part, R-49 in part, R-55 in part, R-58 in part, F-14 in part, F-15 in part, F-16, F-18 in part."""
    life = live(seed, FEW)

    assert not life.wrongs
    assert life.tally.asked > 0


@pytest.mark.parametrize("seed", LONG)
def test_nor_in_a_long_life(seed: int) -> None:
    life = live(seed)

    assert not life.wrongs


def test_while_members_come_and_go_in_peace_every_request_is_answered_at_first() -> None:
    """Covers R-27, R-43, R-48 in part."""
    life = live(1, Shape(rooms=24, users=6, seconds=400.0), faults=())

    assert not life.wrongs
    assert life.moves > 0
    assert life.tally.failed == 0
    assert life.tally.again == 0


def test_a_life_is_the_same_each_time() -> None:
    assert live(3, FEW) == live(3, FEW)
