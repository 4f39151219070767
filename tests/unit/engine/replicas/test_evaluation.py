"""From metrics to a number, row by row. Five are expected, 2 to 20 allowed."""

from decimal import Decimal

import pytest

from springtide.engine.replicas.combination import Reading, Suggestion, combine
from springtide.engine.replicas.evaluation import Stage, Standing, evaluate
from springtide.engine.replicas.windows import Windows
from springtide.model.replicas.rules import Limits

LIMITS = Limits(replicas_min=2, replicas_max=20)
FIVE = Standing(expect=5, current=5)


def up(replicas: int | None, policy: str = "a") -> Reading:
    """Return a metric that needs so many replicas."""
    total = None if replicas is None else Decimal(replicas)
    return Reading(policy=policy, up_total=total, up_per_replica=1)


def down(replicas: int | None, policy: str = "a") -> Reading:
    """Return a metric for which so many replicas would do."""
    total = None if replicas is None else Decimal(replicas)
    return Reading(policy=policy, down_total=total, down_per_replica=1)


ROWS = {
    "P-1": ([up(4, "cpu"), up(7, "memory")], LIMITS, 7),
    "P-2": ([down(4, "A"), down(3, "B")], LIMITS, 4),
    "P-3": ([down(3, "A"), down(None, "B")], LIMITS, 5),
    "P-4": ([up(9, "A"), up(None, "B")], LIMITS, 9),
    "P-5 up 6": ([up(6), down(None)], LIMITS, 6),
    "P-5 up 4": ([up(4), down(None)], LIMITS, 5),
    "P-6": ([up(None), down(None)], LIMITS, 5),
    "P-7": ([down(1)], LIMITS, 2),
    "P-8": ([up(50)], LIMITS, 20),
    "P-9": ([up(15)], Limits(step_up_max=4, replicas_min=2, replicas_max=20), 9),
    "P-12": ([up(10, "A"), down(3, "B")], LIMITS, 10),
    "no metrics": ([], LIMITS, 5),
}


@pytest.mark.parametrize(("readings", "limits", "replicas"), ROWS.values(), ids=ROWS)
def test_metrics_become_one_number(readings: list[Reading], limits: Limits, replicas: int) -> None:
    """Covers R-8, R-9."""
    found = evaluate(combine(readings), FIVE, limits=limits, windows=Windows(), now_ms=1000)

    assert found.replicas == replicas


def test_c_7_between_the_thresholds_nothing_moves() -> None:
    """Covers R-10."""
    eight = Standing(expect=8, current=8)

    found = evaluate(Suggestion(7, 9), eight, limits=LIMITS, windows=Windows(), now_ms=0)

    assert found.replicas == 8
    assert "between both thresholds" in found.why


@pytest.mark.parametrize(("cpu", "external", "replicas"), [(1, None, 3), (5, None, 5), (1, 2, 2)])
def test_fc_067_a_metric_that_is_away_blocks_shrinking_and_not_growing(
    cpu: int, external: int | None, replicas: int
) -> None:
    readings = [up(cpu, "cpu"), down(cpu, "cpu"), up(external, "ext"), down(external, "ext")]
    three = Standing(expect=3, current=3)
    limits = Limits(replicas_min=1, replicas_max=5)

    found = evaluate(combine(readings), three, limits=limits, windows=Windows(), now_ms=0)

    assert found.replicas == replicas


def test_a_metric_that_is_not_required_does_not_hold_others_back() -> None:
    optional = Reading(policy="b", down_per_replica=1, is_required=False)

    assert combine([down(3), optional]) == Suggestion(None, 3)


def test_an_operator_goes_before_the_load_but_not_past_the_bounds() -> None:
    ordered = Standing(expect=5, current=5, ordered=30)

    found = evaluate(Suggestion(7, 7), ordered, limits=LIMITS, windows=Windows(), now_ms=0)

    assert found.replicas == 20


def test_a_forced_order_does_not_wait_for_a_window() -> None:
    ordered = Standing(expect=5, current=5, ordered=3, is_forced=True)
    windows = Windows(down_ms=60_000)

    found = evaluate(Suggestion(), ordered, limits=LIMITS, windows=windows, now_ms=0)

    assert found.replicas == 3


def test_a_floor_holds_against_a_small_load() -> None:
    standing = Standing(expect=5, current=5, floor=4)

    found = evaluate(Suggestion(None, 2), standing, limits=LIMITS, windows=Windows(), now_ms=0)

    assert found.replicas == 4
    assert found.stages[2].words == "At least 4 must stay, because something stands on them."


def test_every_stage_is_told_in_order() -> None:
    """Covers R-9."""
    found = evaluate(Suggestion(None, 1), FIVE, limits=LIMITS, windows=Windows(), now_ms=0)

    assert [each.stage for each in found.stages] == list(Stage)
    assert found.why == (
        "The load needs 1, and 5 are expected. One step reaches it. At least 2 must be. So it is 2."
    )


def test_older_fleets_take_a_truncated_zero_for_unknown() -> None:
    nothing = Reading(policy="a", down_total=Decimal(0), down_per_replica=1)

    assert combine([nothing], is_truncated=True) == Suggestion(None, None)
