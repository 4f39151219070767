"""Which answers may count, row by row."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from springtide.engine.replicas.verdicts import (
    Circumstance,
    Unknown,
    UnknownReason,
    is_soon_again,
    judge,
)
from springtide.model.replicas.answer import (
    Answer,
    Answered,
    HttpFailed,
    Refused,
    Sample,
    Series,
    Unreachable,
    Unreadable,
)
from springtide.model.replicas.policy import Multi, Policy, Reduction, Validity

NOW_MS = 1_000_000
FOUR = Circumstance(now_ms=NOW_MS, members_expected=4)
POLICY = Policy(name="cpu")
STRICT = Policy(name="cpu", validity=Validity(is_zero_unknown=True))
FOREIGN = Policy(name="x", query="rooms")


def series(row: str, *values: str, at_ms: int = NOW_MS) -> Series:
    """Return one row of an answer."""
    samples = tuple(Sample(at_ms, Decimal(value)) for value in values)
    return Series({"hpa_q": row}, samples)


def answer(
    *values: str, count: str | None = "4", age: str | None = "5", warnings: tuple[str, ...] = ()
) -> Answered:
    """Return an answer whose count and age are fine unless said otherwise."""
    rows = [series("v", each) for each in values]
    rows += [series("n", count)] if count is not None else []
    rows += [series("age", age)] if age is not None else []
    return Answered(series=tuple(rows), warnings=warnings)


def told(policy: Policy, given: Answer, circumstance: Circumstance = FOUR) -> tuple[str, str]:
    """Return the value or the reason for each direction."""
    judged = judge(policy, given, circumstance)
    up, down = (
        each.label if isinstance(each, Unknown) else f"{each:f}"
        for each in (judged.up, judged.down)
    )
    return up, down


LATE = Answered(
    series=(series("v", "1", at_ms=NOW_MS + 40_000), series("n", "4"), series("age", "5"))
)
BOUNDED = Policy(name="x", validity=Validity(value_min=1, value_max=10))
EMPTY_IS_ZERO = Policy(name="x", validity=Validity(is_empty_zero=True))

ROWS: dict[str, tuple[Policy, Answer, tuple[str, str]]] = {
    "A-10": (POLICY, answer("-3"), ("negative", "negative")),
    "P-5": (POLICY, answer("600", count="3"), ("600", "coverage")),
    "P-6": (POLICY, answer("NaN"), ("nan", "nan")),
    "P-13": (STRICT, answer("0"), ("zero", "zero")),
    "P-14": (POLICY, answer("600", age="70"), ("stale", "stale")),
    "P-16 error": (POLICY, answer("1", "2"), ("ambiguous", "ambiguous")),
    "P-16 max": (replace(POLICY, multi=Multi.MAX), answer("1", "2"), ("2", "2")),
    "P-16 sum": (replace(POLICY, multi=Multi.SUM), answer("1", "2"), ("3", "3")),
    "P-17": (POLICY, LATE, ("clock", "clock")),
    "P-18": (POLICY, answer("600", count=None, age=None), ("coverage", "coverage")),
    "P-19": (POLICY, answer("600", age="90"), ("stale", "stale")),
    "Z-2": (POLICY, answer(), ("no_data", "no_data")),
    "Z-2 zero": (EMPTY_IS_ZERO, answer(), ("0", "0")),
    "Z-3": (POLICY, answer("Infinity"), ("nan", "nan")),
    "Z-6": (POLICY, Refused(kind="execution", message="m"), ("api_execution", "api_execution")),
    "Z-7": (POLICY, Unreadable("it is a page"), ("parse", "parse")),
    "Z-10": (POLICY, answer("6", warnings=("away",)), ("6", "warning")),
    "Z-11": (FOREIGN, answer("42", count=None, age=None), ("42", "42")),
    "Z-12": (POLICY, Unreachable("no answer within 10 s"), ("transport", "transport")),
    "a proxy": (POLICY, HttpFailed(502), ("http_502", "http_502")),
    "below its bound": (BOUNDED, answer("0"), ("bounds", "bounds")),
    "above its bound": (BOUNDED, answer("11"), ("bounds", "bounds")),
    "no age": (POLICY, answer("6", age=None), ("stale", "stale")),
    "an age that is none": (POLICY, answer("6", age="NaN"), ("stale", "stale")),
    "no count": (POLICY, answer("6", count=None), ("coverage", "coverage")),
    "a count that is none": (POLICY, answer("6", count="NaN"), ("coverage", "coverage")),
    "half": (POLICY, answer("6", count="2"), ("6", "coverage")),
    "less than half": (POLICY, answer("6", count="1"), ("coverage", "coverage")),
}  # fmt: skip


@pytest.mark.parametrize(("policy", "given", "verdict"), ROWS.values(), ids=ROWS)
def test_an_answer_counts_or_says_why_not(
    policy: Policy, given: Answer, verdict: tuple[str, str]
) -> None:
    """Covers R-12 in part, R-14."""
    assert told(policy, given) == verdict


MATRIX = {"last": "3", "first": "1", "sum": "6", "avg": "2", "min": "1", "max": "3"}


@pytest.mark.parametrize(("reduction", "value"), MATRIX.items())
def test_z_5_several_times_become_one_value(reduction: str, value: str) -> None:
    policy = replace(FOREIGN, reduction=Reduction(reduction))

    assert told(policy, Answered(series=(series("v", "1", "2", "3"),))) == (value, value)


def test_one_time_that_is_no_number_spoils_a_series() -> None:
    assert told(FOREIGN, Answered(series=(series("v", "NaN", "2"),))) == ("nan", "nan")


def test_half_of_three_members_is_two() -> None:
    three = replace(FOUR, members_expected=3)

    assert told(POLICY, answer("6", count="1"), three) == ("coverage", "coverage")
    assert told(POLICY, answer("6", count="2"), three) == ("6", "coverage")


def test_of_several_counts_and_ages_the_worst_hold() -> None:
    rows = (series("v", "6"), series("n", "4"), series("n", "3"))

    old = Answered(series=(*rows, series("age", "5"), series("age", "70")))
    fresh = Answered(series=(*rows, series("age", "5")))

    assert told(POLICY, old) == ("stale", "stale")
    assert told(POLICY, fresh) == ("6", "coverage")


def test_an_answer_that_came_long_ago_is_stale() -> None:
    old = replace(FOUR, received_ago_ms=70_000, received_ago_max_ms=50_000)

    assert told(POLICY, answer("6"), old) == ("stale", "stale")


def test_nobody_expected_does_not_make_the_dead_count() -> None:
    nobody = replace(FOUR, members_expected=0)

    assert told(POLICY, answer("6", count=None, age=None), nobody) == ("coverage", "coverage")


def test_exact_sums_keep_what_a_float_drops() -> None:
    policy = replace(POLICY, multi=Multi.SUM)

    up, _ = told(policy, answer("100000000000000000000000000000", "0.0000001"))

    assert up == "100000000000000000000000000000.0000001"


SOON = {
    "unreachable": (Unreachable("refused"), True),
    "http": (HttpFailed(502), True),
    "overloaded": (Refused(kind="timeout", message="m"), True),
    "bad query": (Refused(kind="bad_data", message="m"), False),
    "no data": (answer(), False),
    "fine": (answer("5"), False),
}


@pytest.mark.parametrize(("given", "is_soon"), SOON.values(), ids=SOON)
def test_only_faults_that_pass_are_asked_about_again_soon(given: Answer, *, is_soon: bool) -> None:
    assert is_soon_again(judge(POLICY, given, FOUR).down) is is_soon


def test_a_verdict_says_what_to_do() -> None:
    verdict = judge(POLICY, answer("600", count="3"), FOUR).down

    assert isinstance(verdict, Unknown)
    assert verdict.reason is UnknownReason.COVERAGE
    assert verdict.words == "3 of 4 members report; 4 are needed."
