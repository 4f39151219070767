"""Situations from the field about numbers of replicas: the members that decide, and the autoscaler that follows."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from springtide.apps.manifests import ScaleDown, compose, settled
from springtide.engine.replicas.deciding import (
    Deciding,
    Evaluated,
    EvaluationDue,
    Rulebook,
    step,
)
from springtide.engine.replicas.round_messages import StatusSeen
from springtide.engine.replicas.rounds import Course
from springtide.engine.replicas.verdicts import Judged, Unknown, UnknownReason
from springtide.model.replicas.answer import Answer, Answered
from springtide.model.replicas.policy import Fallback, Policy
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.status import Status
from tests.manifesting import CHOSEN, settings
from tests.members import (
    ROOMS,
    SETTINGS,
    Fleet,
    Load,
    fleet,
    seconds_until,
    status_of,
    until,
    with_policies,
)
from tests.standin.hpa import Autoscaler, round_of
from tests.standin.hpa_behavior import Behavior, Bounds, Memory, Rules
from tests.standin.hpa_behavior import Policy as Rule
from tests.standin.hpa_maths import EXACT, Metric, Scale
from tests.standin.hpa_read import autoscaler_of
from tests.standin.hpa_rows import one
from tests.virtual import run

ROOT: Final = Path(__file__).resolve().parents[2]
QUICK: Final = Schedule(start_delay_ms=2_000, period_ms=2_000, scaling_delay_ms=2_000)
NONE: Final = Fallback()
AWAY: Final = Unknown(UnknownReason.TRANSPORT, "Prometheus could not be asked: refused.")


def policy(name: str, fallback: Fallback = NONE) -> Policy:
    """Return a metric of which one replica carries 1."""
    return Policy(name=name, up_per_replica=1, down_per_replica=1, fallback=fallback)


def judged(wish: int | None) -> Judged:
    """Return what a metric says that wants so many replicas, or that cannot be read."""
    verdict = AWAY if wish is None else Decimal(wish)
    return Judged(up=verdict, down=verdict)


class OneAway(Load):
    """A Prometheus that has one metric and not the other one."""

    async def answer(self, text: str) -> Answer:
        """Return the load, or nothing."""
        return Answered(series=()) if "external" in text else await super().answer(text)


def loops(
    policies: tuple[Policy, ...],
    current: int,
    wishes: dict[str, int | None],
    *,
    bounds: tuple[int, int] = (1, 20),
    count: int = 1,
) -> list[Evaluated]:
    """Return what each of so many evaluations comes to, of which the next one begins with the number."""
    limits = Limits(replicas_min=bounds[0], replicas_max=bounds[1])
    book, state = Rulebook(policies=policies, course=Course(limits=limits)), Deciding()
    found: list[Evaluated] = []
    for index in range(count):
        at_ms = index * 20_000
        status = Status(
            current=current,
            expect=current,
            start_ms=0,
            end_ms=0,
            scaling_ms=0,
            generation=index + 1,
        )
        seen = StatusSeen(status=status, revision=index + 1, now_ms=at_ms, cause="watch")
        state, _ = step(book, state, seen)
        due = EvaluationDue(
            judged={name: judged(wish) for name, wish in wishes.items()},
            observed=current,
            now_ms=at_ms,
            steady_ms=at_ms,
            cause="interval",
        )
        state, commands = step(book, state, due)
        found += [each for each in commands if isinstance(each, Evaluated)]
        current = found[-1].replicas
    return found


def shipped(*, most: int = 50, **spec: Any) -> dict[str, Any]:
    """Return what the generated autoscaler is to do once it may shrink, with these parts changed."""
    known = settings(replicas={"min": 1, "max": most})
    choices = replace(CHOSEN, scale_down=ScaleDown(is_allowed=True))
    (found,) = [
        each
        for each in compose(known, settled(choices, known, None))
        if each["kind"] == "HorizontalPodAutoscaler"
    ]
    return {**found["spec"], **spec}


def follow(autoscaler: Autoscaler, current: int, expected: int, *, seconds: int = 600) -> list[int]:
    """Return the numbers that a workload goes through that follows at once."""
    memory, numbers = Memory(), [current]
    answers = [one(expected)] * len(autoscaler.metrics)
    for now_s in range(0, seconds, 15):
        scale = Scale(wanted=numbers[-1], there=numbers[-1], ready=numbers[-1])
        memory, outcome = round_of(
            autoscaler, memory, scale=scale, answers=answers, now_s=float(now_s)
        )
        if outcome.replicas != numbers[-1]:
            numbers.append(outcome.replicas)
    return numbers


@pytest.mark.parametrize(("cpu", "replicas"), [(1, 3), (5, 5)])
def test_fc_067_what_is_decided_without_a_metric_says_which_one_is_missing(
    cpu: int, replicas: int
) -> None:
    """Covers R-12 in part."""
    (found,) = loops((policy("cpu"), policy("external")), 3, {"cpu": cpu, "external": None})

    assert found.replicas == replicas
    assert "external is unknown (transport): Prometheus could not be asked" in found.why


def test_fc_068_an_empty_answer_changes_nothing_until_samples_are_back() -> None:
    """Covers R-12 in part."""

    async def work() -> None:
        async with fleet(6, replace(SETTINGS, schedule=QUICK), load=580) as found:
            await seconds_until(lambda: status_of(found) is not None)
            found.load.answer_with, found.load.total = Answered(series=()), 100
            await asyncio.sleep(600)
            held = {each.controller.snapshot().expected for each in found.members.values()}
            (shown,) = found.members["chat-0"].controller.snapshot().policies
            found.load.answer_with = None
            await until(found, 2)

            assert held == {6}
            assert (shown.up_unknown, shown.down_unknown) == ("no_data", "no_data")

    run(work())


def test_fc_069_an_absolute_number_is_not_multiplied_by_what_is_there() -> None:
    """Covers R-40 in part."""
    spec = shipped()
    targets = [each["external"]["target"] for each in spec["metrics"]]
    multiplied = [
        {"external": {"metric": {"name": "E"}, "target": {"type": "Value", "value": "1"}}}
    ]

    assert targets == [{"type": "AverageValue", "averageValue": "1"}] * 2
    assert follow(autoscaler_of(spec), 3, 6, seconds=15) == [3, 6]
    assert follow(autoscaler_of(shipped(metrics=multiplied)), 3, 6, seconds=15) == [3, 18]


def test_fc_069_nothing_that_is_shipped_has_the_form_that_multiplies() -> None:
    pages = [
        path
        for folder in ("deploy", "docs", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".md", ".yaml"}
    ]

    assert len(pages) > 20
    assert not [path for path in pages if "type: Value" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize(("current", "expected"), [(22, 24), (24, 22), (88, 90)])
def test_fc_070_the_last_tenth_is_reached_exactly(current: int, expected: int) -> None:
    exact = autoscaler_of(shipped(most=100))
    loose = autoscaler_of(shipped(most=100, behavior={}))

    assert follow(exact, current, expected)[-1] == expected
    assert follow(loose, current, expected) == [current]


def test_fc_070_how_numbers_are_made_exact_is_documented() -> None:
    manifest, adapter = (
        (ROOT / "docs" / name).read_text(encoding="utf-8")
        for name in ("replicas-manifest.md", "adapter.md")
    )

    assert '`tolerance: "0"` both ways, so that 11 is reached from 10.' in manifest
    assert "--tolerance-fallback cluster-flag" in manifest
    assert "With the default of a tenth, 11 is never reached from 10." in adapter


@pytest.mark.parametrize(("age_s", "replicas"), [(500, 17), (610, 16)])
def test_fc_071_the_autoscaler_does_not_grow_by_old_demand_either(
    age_s: int, replicas: int
) -> None:
    anything = (Rule(kind="Pods", value=50),)
    autoscaler = Autoscaler(
        metrics=(Metric(name="E"),),
        bounds=Bounds(least=1, most=50),
        behavior=Behavior(
            up=Rules(window_s=300.0, policies=anything),
            down=Rules(window_s=600.0, policies=anything),
        ),
        tolerance=EXACT,
    )
    memory = Memory(proposed=((1000.0 - age_s, 21), (800.0, 16)))

    _, outcome = round_of(
        autoscaler, memory, scale=Scale(wanted=17, there=17), answers=(one(14),), now_s=1000.0
    )

    assert outcome.replicas == replicas


@pytest.mark.parametrize(("failures", "cpu", "replicas"), [(1, 7, 8), (3, 9, 9), (3, 3, 5)])
def test_fc_075_a_fallback_is_a_floor_that_starts_after_repeated_failure(
    failures: int, cpu: int, replicas: int
) -> None:
    policies = (policy("cpu"), policy("external", Fallback(replicas=5, failures=3)))

    *_, found = loops(policies, 8, {"cpu": cpu, "external": None}, count=failures)

    assert found.replicas == replicas
    assert ("so 5 replicas stand for it" in found.why) == (failures == 3)


def test_fc_075_members_shrink_to_the_fallback_while_one_metric_stays_away() -> None:
    async def work() -> None:
        external = replace(ROOMS, name="external", fallback=Fallback(replicas=5, failures=3))
        found = Fleet(with_policies(ROOMS, external, settings=replace(SETTINGS, schedule=QUICK)))
        found.load = OneAway(780)
        for index in range(1, 9):
            await found.add(index)
        await seconds_until(lambda: status_of(found) is not None)
        found.load.total = 240
        await until(found, 5)
        await asyncio.sleep(10 * 20)
        status = status_of(found)
        await found.close()

        assert status is not None
        assert status.expect == 5
        assert "external failed" in status.reason

    run(work())


@pytest.mark.parametrize(("t2", "current"), [(None, 3), (None, 12), (4, 3), (4, 12), (4, 20)])
def test_fc_077_two_failed_sources_give_the_fallback_once(t2: int | None, current: int) -> None:
    twelve = Fallback(replicas=12, failures=1)
    policies = (policy("t1", twelve), policy("t2", twelve))

    found = loops(policies, current, {"t1": None, "t2": t2}, bounds=(3, 30), count=10)

    assert [each.replicas for each in found] == [12] * 10
