"""After an outage: four members, all of them owners, and a window of 60 s."""

from typing import Any

import pytest
from msgspec.structs import replace

from springtide.engine.replicas.recovery import (
    Checking,
    DistributionMismatch,
    Event,
    Recovery,
    Source,
    SourceAway,
    SourceBack,
    Surveyed,
    differences,
    step,
)
from springtide.model.replicas.knobs import SAFE, Mode
from springtide.model.replicas.status import Status

FOUR = Status(current=4, expect=4, start_ms=0, end_ms=0, scaling_ms=0, generation=3)
SHRINKING = Status(
    current=4, expect=2, start_ms=60_000, end_ms=120_000, scaling_ms=180_000, generation=4
)
CHECKING = Checking(window_down_ms=60_000)
ALL = frozenset({1, 2, 3, 4})


def survey(at_s: int = 0, **fields: Any) -> Surveyed:
    """Return what is there at this second: four members that agree with the status."""
    seen = Surveyed(
        status=FOUR,
        members=ALL,
        owners=ALL,
        now_ms=at_s * 1000,
        steady_ms=at_s * 1000,
        cause="look",
        replicas=4,
    )
    return replace(seen, **fields)


def away(at_s: int, source: Source = Source.STORE) -> SourceAway:
    """Return news that a source is away."""
    return SourceAway(source=source, steady_ms=at_s * 1000, cause="store")


def back(at_s: int, source: Source = Source.STORE) -> SourceBack:
    """Return news that a source is back."""
    return SourceBack(source=source, steady_ms=at_s * 1000, cause="store")


def after(*events: Event) -> tuple[Recovery, list[DistributionMismatch]]:
    """Return the machine after events, and all that it told."""
    state, told = Recovery(), list[DistributionMismatch]()
    for event in events:
        state, commands = step(CHECKING, state, event)
        told += commands
    return state, told


def test_f_21_after_an_outage_nothing_shrinks_until_all_agrees_for_a_window() -> None:
    """Covers R-50 in part."""
    outage = (away(0), back(31))

    assert len(after(*outage)[0].holds) == 1
    assert len(after(*outage, survey(40), survey(99))[0].holds) == 1
    assert after(*outage, survey(40), survey(100))[0] == Recovery()


def test_f_21_a_member_that_is_gone_is_told_once_and_holds() -> None:
    """Covers R-50 in part."""
    gone = {"members": ALL - {3}, "owners": ALL - {3}}
    events = (away(0), back(40), survey(40, **gone), survey(60, **gone))

    state, told = after(*events)

    assert told == [DistributionMismatch("Nobody lives under 3.")]
    assert state.holds == ("Nobody lives under 3.",)


def test_a_difference_begins_the_window_anew() -> None:
    events = (away(0), back(40), survey(40), survey(90, replicas=5), survey(95))

    assert after(*events, survey(154))[0].holds != ()
    assert after(*events, survey(155))[0].holds == ()


def test_a_short_outage_is_none() -> None:
    assert after(away(0), away(20), back(30)) == (Recovery(), [])


def test_an_outage_counts_from_when_it_began_and_by_its_source() -> None:
    metrics = away(25, Source.METRICS)

    assert after(away(0), metrics, away(30), back(31))[0].is_due
    assert not after(metrics, back(40), back(50, Source.METRICS))[0].is_due


def test_without_an_outage_nothing_is_compared() -> None:
    assert after(survey(0, replicas=9)) == (Recovery(), [])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, ()),
        ({"replicas": None}, ()),
        ({"replicas": 3}, ("The workload is set to 3 replicas, and 4 belong there.",)),
        ({"replicas": 6, "floor": 6}, ()),
        ({"owners": ALL | {5}}, ("New state goes to 5, which should not own any.",)),
        ({"owners": ALL - {2}}, ("No new state goes to 2, which should own some.",)),
        ({"status": SHRINKING}, ()),
        (
            {"status": SHRINKING, "now_ms": 60_000},
            ("New state goes to 3, 4, which should not own any.",),
        ),
        ({"status": SHRINKING, "now_ms": 120_000, "owners": frozenset({1, 2})}, ()),
    ],
)
def test_what_is_there_differs_from_the_status(
    fields: dict[str, Any], words: tuple[str, ...]
) -> None:
    assert differences(CHECKING, survey(**fields)) == words


def test_owners_are_those_who_should_be_and_none_where_all_drain() -> None:
    nobody = survey(owners=frozenset())
    draining = replace(CHECKING, knobs=replace(SAFE, mode=Mode.DRAIN_ALL))
    free = replace(CHECKING, are_labels_led=False)

    assert differences(CHECKING, nobody) != ()
    assert differences(draining, nobody) == ()
    assert differences(free, nobody) == ()
