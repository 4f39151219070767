"""Who is on which row."""

import numpy as np

from springtide.engine.preemption import Residents
from tests.unit.engine.attempt.attempting import pod


def test_rows_with_anybody_below_a_priority_are_found_at_once() -> None:
    some = [(0, pod("a", priority=5)), (2, pod("b", priority=7)), (2, pod("c", priority=1))]
    residents = Residents(some)

    found = residents.has_below(5, np.array([0, 1, 2, 99]))

    assert found.tolist() == [False, False, True, False]


def test_the_pods_of_a_row_are_parted_by_priority() -> None:
    residents = Residents([(2, pod("b", priority=7)), (2, pod("c", priority=1))])

    found = [[each.name for each in residents.below(priority, 2)] for priority in (1, 7, 8)]

    assert found == [[], ["c"], ["b", "c"]]
    assert residents.below(9, 1) == []
