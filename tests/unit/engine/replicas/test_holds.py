"""What keeps a workload from shrinking: five are expected, and two would do."""

import pytest

from springtide.engine.replicas.evaluation import Standing
from springtide.engine.replicas.holds import Held, clock_holds, gap_holds, held
from springtide.model.replicas.rules import Limits

FIVE = Standing(expect=5, current=5)
LIMITS = Limits(replicas_max=20)
WHICH_IS = "which is: see why before anybody leaves."
WHY = ("The owners differ.",)


def test_a_hold_keeps_what_is_expected_and_is_told() -> None:
    assert held(2, FIVE, WHY, limits=LIMITS) == Held(5, (*WHY, "So nothing shrinks, and 5 stay."))


def test_a_hold_keeps_nobody_from_growing() -> None:
    assert held(7, FIVE, WHY, limits=LIMITS) == Held(7, WHY)


def test_without_a_hold_it_shrinks() -> None:
    assert held(2, FIVE, (), limits=LIMITS) == Held(2, ())


def test_the_largest_number_allowed_goes_before_a_hold() -> None:
    assert held(3, FIVE, WHY, limits=Limits(replicas_max=4)).replicas == 4


@pytest.mark.parametrize(("is_forced", "replicas"), [(True, 2), (False, 5)])
def test_only_a_forced_order_goes_past_a_hold(*, is_forced: bool, replicas: int) -> None:
    ordered = Standing(expect=5, current=5, ordered=2, is_forced=is_forced)

    assert held(2, ordered, WHY, limits=LIMITS).replicas == replicas


@pytest.mark.parametrize(
    ("live", "words"),
    [
        ({1, 2, 3}, ()),
        (set(), ()),
        ({1, 3}, (f"Member 2 is not there, below 3, {WHICH_IS}",)),
        (
            {12},
            (f"Members 1, 2, 3, 4, 5, 6, 7, 8 and 3 more are not there, below 12, {WHICH_IS}",),
        ),
    ],
)
def test_numbers_of_those_who_live_have_no_gap(live: set[int], words: tuple[str, ...]) -> None:
    assert gap_holds(live) == words


def test_a_clock_that_is_far_off_sends_nobody_away() -> None:
    assert clock_holds(-30_000) == ()
    assert clock_holds(-31_500) == ("Our clock is 31.5 s from that of others; set it.",)
