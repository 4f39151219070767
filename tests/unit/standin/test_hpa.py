"""What a stand-in autoscaler decides, by the rows that the real one is held against, too."""

import pytest

from tests.standin.hpa import AMBIGUOUS, VALID, Autoscaler, Outcome, round_of, rounds_of
from tests.standin.hpa_behavior import DOWN, UP, Behavior, Bounds, Memory, Policy, Rules
from tests.standin.hpa_maths import EXACT, INT32_MAX, Items, Metric, Scale, Tolerance
from tests.standin.hpa_rows import AT_ONCE, FREE, ROWS, Row, autoscaler_of, has, one


def ask(row: Row) -> Outcome:
    """Return what one round comes to that nothing was before."""
    return round_of(autoscaler_of(row), Memory(), scale=row.scale, answers=row.answers, now_s=0.0)[
        1
    ]


def exact(behavior: Behavior | None = None, *, most: int = 50) -> Autoscaler:
    """Return an autoscaler of one metric that swallows nothing."""
    return Autoscaler(
        metrics=(Metric(name="E"),),
        bounds=Bounds(least=1, most=most),
        behavior=behavior,
        tolerance=EXACT,
    )


def follow(
    autoscaler: Autoscaler, wanted: int, answers: list[float], *, every_s: float = 15.0
) -> list[int]:
    """Return what a workload that follows at once is to have after each answer."""
    memory, found = Memory(), []
    for number, answer in enumerate(answers):
        memory, outcome = round_of(
            autoscaler, memory, scale=has(wanted), answers=(one(answer),), now_s=number * every_s
        )
        wanted = outcome.replicas
        found.append(wanted)
    return found


@pytest.mark.parametrize("name", ROWS)
def test_a_round_decides_as_its_row_says(name: str) -> None:
    """Covers R-39 in part, R-40 in part, R-45 in part."""
    row = ROWS[name]

    outcome = ask(row)

    assert (outcome.replicas, outcome.reason) == (row.replicas, row.reason)


@pytest.mark.parametrize("there", [0, 1, 7, 39, 1000])
@pytest.mark.parametrize("wanted", [1, 2, 10, 11, 39, 40])
def test_h_1_an_absolute_number_is_met_whatever_there_is(wanted: int, there: int) -> None:
    row = Row(scale=has(20, there), answers=(one(wanted),), replicas=wanted)

    assert ask(row).replicas == wanted


def test_h_2_a_value_of_nobody_ready_takes_everything_away() -> None:
    row = Row(scale=has(4, ready=0), answers=(one(12),), kind="Value", replicas=1)

    outcome = ask(row)

    assert (outcome.replicas, outcome.limit) == (1, "TooFewReplicas")


@pytest.mark.parametrize(
    ("there", "swallowed", "first"), [(9, (), 10), (20, (21, 22), 23), (50, (51, 55), 56)]
)
def test_h_5_a_tenth_swallows_more_the_more_there_are(
    there: int, swallowed: tuple[int, ...], first: int
) -> None:
    bounds, loose = Bounds(least=1, most=200), Tolerance()
    found = {
        each: ask(
            Row(
                scale=has(there),
                answers=(one(each),),
                bounds=bounds,
                tolerance=loose,
                replicas=each,
            )
        ).replicas
        for each in (*swallowed, first)
    }

    assert found == {**dict.fromkeys(swallowed, there), first: first}


def test_h_9_a_fault_of_one_metric_is_told_though_the_other_one_counts() -> None:
    outcome = ask(ROWS["H-9 it grows in spite of a fault"])

    assert outcome.is_failed
    assert outcome.is_active


def test_h_9_no_items_are_no_answer() -> None:
    outcome = ask(Row(scale=has(6), answers=((),), replicas=6))

    assert (outcome.replicas, outcome.reason) == (6, "FailedGetExternalMetric")


def test_h_10_a_zero_is_waited_for_as_long_as_the_window() -> None:
    calm = Behavior(up=AT_ONCE, down=Rules(window_s=60.0, policies=AT_ONCE.policies))

    found = follow(exact(calm), 6, [6, 0, 0, 0, 0, 0])

    assert found == [6, 6, 6, 6, 1, 1]


def test_h_13_it_grows_by_the_larger_of_four_and_as_many_again() -> None:
    assert follow(exact(Behavior()), 2, [20, 20, 20, 20]) == [6, 12, 20, 20]


def test_h_14_it_shrinks_by_one_in_each_period() -> None:
    down = Rules(window_s=0.0, policies=(Policy(kind="Pods", value=1, period_s=30.0),))

    found = follow(exact(Behavior(down=down)), 12, [10, 10, 10, 10])

    assert found == [11, 11, 10, 10]


def test_without_a_behavior_it_doubles_or_grows_to_four_and_waits_five_minutes_to_shrink() -> None:
    grown = follow(exact(), 1, [20, 20, 20, 20])
    shrunk = follow(exact(), 8, [3] * 22)

    assert grown == [4, 8, 16, 20]
    assert shrunk == [8] * 20 + [3, 3]


@pytest.mark.parametrize(
    ("select", "up", "down"), [("Max", 20, 0), ("Min", 14, 8), ("Disabled", 10, 10)]
)
def test_one_of_several_policies_counts(select: str, up: int, down: int) -> None:
    policies = (Policy(kind="Pods", value=4), Policy(kind="Percent", value=100))
    fewer = (Policy(kind="Pods", value=2), Policy(kind="Percent", value=100))
    rules = Behavior(
        up=Rules(window_s=0.0, select=select, policies=policies),  # type: ignore[arg-type]
        down=Rules(window_s=0.0, select=select, policies=fewer),  # type: ignore[arg-type]
    )

    assert follow(exact(rules), 10, [50]) == [up]
    assert follow(exact(rules), 10, [1]) == [max(down, 1)]


def test_a_window_upwards_waits_for_the_least_that_was_proposed() -> None:
    up = Rules(window_s=30.0, policies=AT_ONCE.policies)

    found = follow(exact(Behavior(up=up, down=AT_ONCE)), 4, [9, 9, 12, 12, 12])

    assert found == [4, 4, 9, 12, 12]


def test_bounds_are_kept_at_once_and_without_any_metric() -> None:
    least, most = exact(FREE), exact(FREE, most=8)
    low = Scale(wanted=0, there=0)

    assert ask(ROWS["H-12 a maximum that is lowered counts at once"]).replicas == 8
    assert follow(most, 8, [30]) == [8]
    assert round_of(least, Memory(), scale=low, answers=(None,), now_s=0.0)[1].replicas == 0


def test_a_workload_of_two_autoscalers_is_left_alone() -> None:
    scale = Scale(wanted=5, there=5, autoscalers=2)

    outcome = round_of(exact(FREE), Memory(), scale=scale, answers=(one(9),), now_s=0.0)[1]

    assert (outcome.replicas, outcome.reason, outcome.is_active) == (5, AMBIGUOUS, False)


def test_numbers_end_where_integers_of_the_api_do() -> None:
    huge: Items = (INT32_MAX * 2000,)

    found = round_of(
        exact(FREE, most=INT32_MAX), Memory(), scale=has(5), answers=(huge,), now_s=0.0
    )[1]

    assert (found.replicas, found.limit, found.reason) == (105, "ScaleUpLimit", VALID)


def test_f_24_what_was_remembered_is_lost_with_the_controller() -> None:
    calm = exact(Behavior(up=AT_ONCE, down=Rules(window_s=60.0, policies=AT_ONCE.policies)))
    memory, _ = round_of(calm, Memory(), scale=has(8), answers=(one(8),), now_s=0.0)

    kept = round_of(calm, memory, scale=has(8), answers=(one(3),), now_s=15.0)[1]
    lost, seeded = round_of(calm, Memory(), scale=has(8), answers=(one(3),), now_s=16.0)
    later = round_of(calm, lost, scale=has(8), answers=(one(3),), now_s=80.0)[1]

    assert (kept.replicas, seeded.replicas, later.replicas) == (8, 8, 3)


def test_a_row_that_goes_on_shows_every_number_that_was_written() -> None:
    grown = ROWS["H-13 it grows by four or doubles"]
    shrunk = ROWS["H-14 it shrinks by one"]

    assert rounds_of(autoscaler_of(grown), grown.scale, grown.answers) == [2, 6, 12, 20]
    assert rounds_of(autoscaler_of(shrunk), shrunk.scale, shrunk.answers) == [12, 11, 10]
    assert (UP.window_s, DOWN.window_s) == (0.0, 300.0)
