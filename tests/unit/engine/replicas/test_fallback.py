"""What stands for a metric that failed, and what it never does."""

from decimal import Decimal

import pytest

from springtide.engine.replicas.combination import Reading, Suggestion, combine
from springtide.engine.replicas.fallback import filled
from springtide.model.replicas.policy import Fallback, Policy

FIVE = Policy(
    name="a", up_per_replica=10, down_per_replica=10, fallback=Fallback(replicas=5, failures=3)
)
FAILED = Reading(policy="a", up_per_replica=10, down_per_replica=10)
PARTIAL = Reading(policy="a", up_total=Decimal(20), up_per_replica=10, down_per_replica=10)


def known(replicas: int) -> Reading:
    """Return a metric that is known and wants so many replicas."""
    total = Decimal(replicas)
    return Reading(
        policy="b", up_total=total, down_total=total, up_per_replica=1, down_per_replica=1
    )


@pytest.mark.parametrize(
    ("before", "suggestion"),
    [(0, Suggestion(3, None)), (1, Suggestion(3, None)), (2, Suggestion(5, 5))],
)
def test_it_stands_for_a_metric_once_that_failed_so_often(
    before: int, suggestion: Suggestion
) -> None:
    found = filled([FIVE], [FAILED, known(3)], {"a": before})

    assert combine(found.readings) == suggestion
    assert found.failures == {"a": before + 1}


def test_one_answer_ends_it() -> None:
    answered = Reading(policy="a", up_total=Decimal(20), down_total=Decimal(20))

    found = filled([FIVE], [answered], {"a": 7})

    assert (found.readings, found.failures, found.words) == ((answered,), {}, ())


def test_a_part_of_a_sum_is_no_failure() -> None:
    found = filled([FIVE], [PARTIAL, known(3)], {"a": 7})

    assert (found.readings[0], found.failures) == (PARTIAL, {})


def test_alone_it_makes_grow_and_never_shrink() -> None:
    """Covers R-12 in part."""
    found = filled([FIVE], [FAILED], {"a": 2})

    assert combine(found.readings) == Suggestion(5, None)
    assert found.words == ("a failed 3 times in a row, so 5 replicas stand for it.",)


def test_without_a_number_nothing_is_counted() -> None:
    found = filled([Policy(name="a")], [FAILED], {})

    assert (found.readings, found.failures, found.words) == ((FAILED,), {}, ())
