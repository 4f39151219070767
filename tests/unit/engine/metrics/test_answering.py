"""What an adapter answers: the rows of the table of adapter answers, and what else is refused."""

from decimal import Decimal
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.metrics import (
    Aggregator,
    Answered,
    AnswerReason,
    Asked,
    Metric,
    Refused,
    Role,
    Sample,
    Table,
    Workload,
    answer,
    read_asked,
    steps_to_table,
)

NOW_UNIX_S: Final = 1_767_322_800.0
SEEN_S: Final = 1000.0
E: Final = Metric(name="hpa_expect_replicas", series=("hpa_expect_replicas",), role=Role.EXPECTED)
S: Final = Metric(
    name="hpa_stateful_index",
    series=("hpa_stateful_index",),
    role=Role.INDEX,
    checks_members=True,
)
PLAIN: Final = Metric(name="load", series=("load",))
CHAT: Final = "hpa_target_name=chat"

Row = tuple[str, float]


def table(metric: Metric, *rows: Row, names: tuple[str, ...] = ("one",), **other: str) -> Table:
    """Return the table of samples `(value, age)` of the members of chat in game."""
    samples = [
        Sample(
            labels={
                "k8s_namespace_name": "game",
                "hpa_target_name": "chat",
                "instance": f"chat-{index}",
                **other,
            },
            text=text,
            unix_s=NOW_UNIX_S - age_s,
        )
        for index, (text, age_s) in enumerate(rows)
    ]
    steps = steps_to_table(
        metric, samples, names=names, unix_s=NOW_UNIX_S, seen_s=SEEN_S, is_partial=False
    )
    while True:
        try:
            next(steps)
        except StopIteration as done:
            made: Table = done.value
            return made


def told(
    metric: Metric,
    *rows: Row,
    selector: str = CHAT,
    namespace: str = "game",
    later_s: float = 0.0,
    workload: Workload | None = None,
) -> str:
    """Return the value, or the status and reason of the refusal."""
    asked = read_asked(metric, namespace, selector)
    if isinstance(asked, Refused):
        return f"{asked.code} {asked.reason}"
    found = answer(metric, asked, table(metric, *rows), now_s=SEEN_S + later_s, workload=workload)
    return f"{found.code} {found.reason}" if isinstance(found, Refused) else str(found.value)


FOUR: Final = Workload(members=4, replicas=4)
ROWS: Final = [
    pytest.param(told(E, ("8", 5), ("8", 6)), "8", id="M-1"),
    pytest.param(told(E, ("8", 5), ("10", 7)), "10", id="M-2"),
    pytest.param(told(S, ("1", 5), ("2", 5), ("3", 5), ("0", 5), workload=FOUR), "3", id="M-3"),
    pytest.param(told(S, ("1", 5), workload=Workload(members=1, replicas=1)), "1", id="M-4"),
    pytest.param(told(E, ("8", 5), selector="a=b"), "400 UnboundSelector", id="M-5"),
    pytest.param(told(E), "404 NoSamples", id="M-6"),
    pytest.param(told(E, ("8", 90)), "503 StaleSamples", id="M-7"),
    pytest.param(told(E, ("0", 5)), "503 BelowLeast", id="M-8"),
    pytest.param(told(E, ("NaN", 5), ("7", 5)), "7", id="M-9 one"),
    pytest.param(told(E, ("NaN", 5)), "503 NoValidSamples", id="M-9 none"),
    pytest.param(
        told(S, ("1", 5), ("2", 5), ("3", 5), workload=FOUR), "503 MembersMissing", id="M-10"
    ),
    pytest.param(
        told(S, ("1", 5), ("2", 5), ("3", 5), workload=replace(FOUR, recorded=4)),
        "4",
        id="M-10 records",
    ),
    pytest.param(
        told(S, ("3", 5), workload=replace(FOUR, recorded=2)),
        "3",
        id="M-10 nothing is written down of those who are not heard",
    ),
    pytest.param(
        told(S, ("1", 5), ("2", 5), ("3", 5), ("0", 5), workload=replace(FOUR, recorded=2)),
        "3",
        id="M-10 more is said than written",
    ),
    pytest.param(
        told(S, workload=replace(FOUR, recorded=4)), "404 NoSamples", id="M-10 nobody has spoken"
    ),
    pytest.param(
        told(S, ("2", 90), workload=replace(FOUR, recorded=4)),
        "503 StaleSamples",
        id="M-10 nobody speaks any more",
    ),
    pytest.param(told(E, ("8", 5), later_s=20), "8", id="M-11 held"),
    pytest.param(told(E, ("8", 5), later_s=40), "503 SourceUnavailable", id="M-11 too long"),
    pytest.param(told(E, ("10.2", 5)), "11", id="M-12"),
    pytest.param(
        told(E, ("8", 5), selector="hpa_target_name in (chat,lobby)"),
        "400 UnboundSelector",
        id="M-13",
    ),
    pytest.param(told(E, ("8", 5), namespace="other"), "404 NoSamples", id="M-14"),
    pytest.param(
        told(S, ("9", 5), workload=Workload(members=1, replicas=4, beyond_s=121)),
        "503 BeyondWorkload",
        id="M-19",
    ),
    pytest.param(
        told(S, ("9", 5), workload=Workload(members=1, replicas=4, beyond_s=119)),
        "9",
        id="M-19 not yet",
    ),
]


@pytest.mark.parametrize(("answered", "expected"), ROWS)
def test_a_row_of_the_table_of_answers(answered: str, expected: str) -> None:
    """Covers R-30, R-31 in part, R-32, R-37 in part, R-41."""
    assert answered == expected


def test_a_metric_by_two_names_counts_by_none() -> None:
    """Covers R-35 in part, M-16."""
    asked = read_asked(E, "game", CHAT)
    assert isinstance(asked, Asked)

    found = answer(E, asked, table(E, ("8", 5), names=("a", "b")), now_s=SEEN_S)

    assert isinstance(found, Refused)
    assert found.reason is AnswerReason.AMBIGUOUS_SERIES
    assert "a, b" in found.message


def test_samples_that_may_be_missing_make_no_number() -> None:
    asked = read_asked(E, "game", CHAT)
    assert isinstance(asked, Asked)

    found = answer(E, asked, replace(table(E, ("8", 5)), is_partial=True), now_s=SEEN_S)

    assert isinstance(found, Refused)
    assert found.reason is AnswerReason.PARTIAL_ANSWER


def test_an_answer_is_as_old_as_the_oldest_sample_that_counts() -> None:
    asked = read_asked(E, "game", CHAT)
    assert isinstance(asked, Asked)

    found = answer(E, asked, table(E, ("8", 5), ("8", 25), ("9", 90)), now_s=SEEN_S)

    assert isinstance(found, Answered)
    assert found.unix_s == NOW_UNIX_S - 25


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (f"{CHAT},instance=chat-1", "2"),
        (f"{CHAT},instance==chat-0", "1"),
        (f"{CHAT},instance!=chat-1", "1"),
        (f"{CHAT},instance in (chat-0,chat-9)", "1"),
        (f"{CHAT},instance notin (chat-1)", "1"),
        (f"{CHAT},instance", "2"),
        (f"{CHAT},!zone", "2"),
        (f"{CHAT},zone", "404 NoSamples"),
        (f"{CHAT},game/room!=a", "2"),
        (f"{CHAT},load>5", "400 MalformedSelector"),
        ("hpa_target_name==chat", "2"),
        ("hpa_target_name in (chat)", "2"),
        ("=", "400 MalformedSelector"),
        ("a" * 5000, "400 MalformedSelector"),
        (",".join(f"a{index}=b" for index in range(21)), "400 MalformedSelector"),
        ("hpa_target_name=", "400 UnboundSelector"),
    ],
)
def test_a_selector_means_what_it_means_to_kubernetes(selector: str, expected: str) -> None:
    assert told(PLAIN, ("1", 5), ("2", 5), selector=selector) == expected


@pytest.mark.parametrize(
    ("aggregator", "expected"),
    [(Aggregator.MAX, "2.5"), (Aggregator.MIN, "1"), (Aggregator.SUM, "3.5")],
)
def test_samples_come_to_one_number(aggregator: Aggregator, expected: str) -> None:
    assert told(replace(PLAIN, aggregator=aggregator), ("1", 5), ("2.5", 5)) == expected


@pytest.mark.parametrize("text", ["-1", "+Inf", "-Inf", "NaN", "", "x", "1e999999999"])
def test_what_is_no_number_to_count_with_is_refused(text: str) -> None:
    assert told(PLAIN, (text, 5)).startswith("503")


@given(
    st.lists(
        st.tuples(st.sampled_from(["NaN", "0", "0.4", "3", "17", "-2", "1e30"]), st.floats(0, 200)),
        max_size=5,
    )
)
def test_what_is_expected_is_a_whole_number_of_fresh_samples_or_nothing(rows: list[Row]) -> None:
    found = told(E, *rows)

    fresh = [Decimal(text) for text, age_s in rows if age_s <= E.age_s_max and text != "NaN"]
    if found.isdecimal():
        assert Decimal(found) >= 1
        assert Decimal(found) == max(fresh).to_integral_value("ROUND_CEILING")
    else:
        assert found[:3] in {"404", "503"}
