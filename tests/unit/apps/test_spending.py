"""Bounds of what a plan asks: time and calls in all, and patience with each extender."""

from springtide.apps.planner.spending import FAILURES_MAX, REST_S, Breaker, Budget, Calls
from tests.world import FixedClock


def test_time_that_is_spent_is_no_longer_there() -> None:
    budget = Budget(Calls(budget_s=2.0))

    budget.spend(seconds=1.5, calls=4)

    assert budget.seconds_left == 0.5
    assert not budget.refusal


def test_a_spent_budget_says_what_to_do() -> None:
    time, calls = Budget(Calls(budget_s=2.0)), Budget(Calls(calls_max=3))

    time.spend(seconds=2.5, calls=1)
    calls.spend(seconds=0.1, calls=3)

    assert "--extender-budget" in time.refusal
    assert "--extender-max-calls" in calls.refusal


def test_only_so_many_calls_are_made_at_once_as_are_left() -> None:
    budget = Budget(Calls(calls_max=3))

    budget.spend(seconds=0.0, calls=1)

    assert (budget.calls_left(4), budget.calls_left(1)) == (2, 1)


def test_nothing_bounds_where_there_is_no_limit() -> None:
    budget = Budget(Calls(budget_s=0, calls_max=0))

    budget.spend(seconds=1e6, calls=10**6)

    assert budget.calls_left(4) == 4
    assert not budget.refusal


def test_who_does_not_answer_is_left_alone_for_a_while() -> None:
    clock = FixedClock()
    breaker = Breaker(clock)

    for _ in range(FAILURES_MAX - 1):
        breaker.count(is_reached=False)
    before = breaker.refusal
    breaker.count(is_reached=False)
    resting = breaker.refusal
    clock.now_s += REST_S
    after = breaker.refusal

    assert (before, after) == ("", "")
    assert "the last 3 calls did not reach it" in resting


def test_an_answer_makes_patience_new() -> None:
    breaker = Breaker(FixedClock())

    for is_reached in (False, False, True, False, False):
        breaker.count(is_reached=is_reached)

    assert not breaker.refusal
