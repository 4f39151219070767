"""Laws of replicas: against the naive reference, and for whole histories of a workload."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.replicas.combination import Reading, Suggestion, chosen, combine, lifted
from springtide.engine.replicas.evaluation import Standing, evaluate
from springtide.engine.replicas.suggestion import suggest
from springtide.engine.replicas.verdicts import Circumstance, Unknown, judge
from springtide.engine.replicas.windows import Windows, calm
from springtide.model.replicas.answer import Answered, Sample, Series
from springtide.model.replicas.policy import Policy, Validity
from springtide.model.replicas.rules import Limits
from tests.reference.replicas import Metric, calmed, replicas_for, wanted

TOTALS = st.decimals(0, 2000, allow_nan=False, places=3)
KNOWN_OR_NOT = st.none() | TOTALS
PER_REPLICA = st.integers(0, 300)
METRICS = st.lists(
    st.builds(Metric, KNOWN_OR_NOT, KNOWN_OR_NOT, PER_REPLICA, PER_REPLICA, st.booleans()),
    max_size=5,
)
NUMBERS = st.integers(1, 30)
LIMITS = st.builds(
    Limits,
    step_up_max=st.integers(0, 4),
    step_down_max=st.integers(0, 4),
    replicas_min=st.integers(0, 5),
    replicas_max=st.sampled_from([0, 10, 30]),
)


def reading(metric: Metric, index: int) -> Reading:
    """Return a metric as an evaluation takes it."""
    return Reading(
        policy=f"policy-{index}",
        up_total=metric.up_total,
        down_total=metric.down_total,
        up_per_replica=metric.up_per_replica,
        down_per_replica=metric.down_per_replica,
        is_required=metric.is_required,
    )


@given(TOTALS, st.integers(1, 300))
def test_a_suggestion_is_the_first_count_that_carries_the_load(
    total: Decimal, per_replica: int
) -> None:
    assert suggest(total, per_replica) == replicas_for(total, per_replica)


@given(st.integers(1, 2**62), st.integers(1, 2**40))
def test_large_totals_lose_nothing(total: int, per_replica: int) -> None:
    """Covers R-7."""
    assert suggest(Decimal(total), per_replica) == min((total - 1) // per_replica + 1, 2**31 - 1)


@given(METRICS, NUMBERS)
def test_metrics_ask_for_what_the_reference_says(metrics: list[Metric], expect: int) -> None:
    suggestion = lifted(combine(reading(each, index) for index, each in enumerate(metrics)))

    assert chosen(suggestion, expect) == wanted(metrics, expect)


@given(
    st.lists(st.tuples(st.integers(1, 40_000), NUMBERS), min_size=1, max_size=12),
    NUMBERS,
    st.integers(0, 90_000),
    st.integers(0, 90_000),
)
def test_windows_let_through_what_the_reference_says(
    gaps: list[tuple[int, int]], expect: int, up_ms: int, down_ms: int
) -> None:
    windows, now_ms = Windows(up_ms=up_ms, down_ms=down_ms), 0
    asked: list[tuple[int, int]] = []

    for gap_ms, raw in gaps:
        now_ms += gap_ms
        asked.append((now_ms, raw))
        found = calm(windows, raw, now_ms=now_ms, expect=expect)

        assert found.replicas == calmed(asked, expect, up_ms, down_ms)
        expect, windows = found.replicas, found.windows


@given(st.lists(st.none() | NUMBERS, max_size=20), NUMBERS, LIMITS)
def test_expected_replicas_never_fall_while_shrinking_is_unknown(
    ups: list[int | None], expect: int, limits: Limits
) -> None:
    """Covers R-12 in part."""
    windows = Windows(up_ms=20_000, down_ms=60_000)

    for turn, up in enumerate(ups):
        standing = Standing(expect=expect, current=expect)
        found = evaluate(
            Suggestion(up, None), standing, limits=limits, windows=windows, now_ms=turn * 20_000
        )

        assert found.replicas >= min(expect, limits.most)
        expect, windows = found.replicas, found.windows


@given(
    st.lists(st.sampled_from(["0", "600", "NaN", "-1", "Infinity"]), max_size=3),
    st.none() | st.sampled_from(["0", "2", "4", "NaN"]),
    st.none() | st.sampled_from(["5", "70", "NaN", "Infinity"]),
    st.integers(-60_000, 60_000),
)
def test_only_one_fresh_whole_number_of_everybody_may_shrink(
    values: list[str], count: str | None, age: str | None, skew_ms: int
) -> None:
    policy = Policy(name="cpu", validity=Validity(is_zero_unknown=True))
    at_ms = 1_000_000 + skew_ms
    rows = [("v", each) for each in values]
    rows += [(row, each) for row, each in (("n", count), ("age", age)) if each is not None]
    series = tuple(Series({"hpa_q": row}, (Sample(at_ms, Decimal(each)),)) for row, each in rows)

    down = judge(
        policy, Answered(series=series), Circumstance(now_ms=1_000_000, members_expected=4)
    ).down

    is_fine = values == ["600"] and count == "4" and age == "5" and abs(skew_ms) <= 30_000
    assert isinstance(down, Unknown) != is_fine
