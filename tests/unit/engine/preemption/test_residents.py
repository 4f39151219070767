"""Who is on which row, followed through arrivals and departures."""

import numpy as np

from springtide.engine.preemption import Residents
from tests.unit.engine.attempt.attempting import pod


def test_rows_with_anybody_below_a_priority_are_found_at_once() -> None:
    residents = Residents([(0, pod("a", priority=5)), (2, pod("b", priority=1))])

    found = residents.has_below(5, np.array([0, 1, 2, 99]))

    assert found.tolist() == [False, False, True, False]


def test_arrivals_and_departures_are_followed() -> None:
    residents = Residents([(0, pod("a", priority=5))])

    residents.add(0, pod("b", priority=1))
    residents.add(7, pod("c", priority=2))
    residents.remove(0, "b")
    residents.remove(7, "c")
    residents.add(3, pod("d", priority=3))

    rows = np.arange(9)
    assert np.flatnonzero(residents.has_below(6, rows)).tolist() == [0, 3]
    assert [each.name for each in residents.below(6, 0)] == ["a"]
    assert list(residents.on(7)) == []
