"""The log of changed rows."""

import numpy as np
import pytest

from springtide.model.changelog import ChangeLog


def test_rows_logged_since_a_position_are_each_told_once_in_order() -> None:
    log = ChangeLog()
    log.append(9)
    position = log.position

    for row in (5, 3, 5, 3, 3):
        log.append(row)

    assert log.since(position).tolist() == [3, 5]


def test_nothing_is_told_to_who_has_read_everything() -> None:
    log = ChangeLog()
    log.append(1)

    assert log.since(log.position).tolist() == []


def test_the_log_grows_as_long_as_there_are_changes() -> None:
    log = ChangeLog()

    for row in range(3000):
        log.append(row)

    assert log.position == 3000
    assert log.since(2998).tolist() == [2998, 2999]


def test_many_rows_are_logged_at_once() -> None:
    log = ChangeLog()
    log.append(7)

    log.extend(np.arange(5000, dtype=np.int32))
    log.extend(np.array([1, 1], np.int32))

    assert log.position == 5003
    assert log.since(1).tolist() == list(range(5000))
    assert log.since(5001).tolist() == [1]


def test_what_is_forgotten_is_not_told_any_more() -> None:
    log = ChangeLog()
    for row in range(3000):
        log.append(row)

    log.forget(2990)
    log.append(7)
    log.extend(np.arange(2000, dtype=np.int32))

    assert (log.start, log.position) == (2990, 5001)
    assert log.since(4999).tolist() == [1998, 1999]
    assert len(log.since(2990)) == 2010
    with pytest.raises(AssertionError, match="forgotten"):
        log.since(2989)
