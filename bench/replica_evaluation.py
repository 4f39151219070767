"""How long does a leader of a hundred policies take to evaluate them, and a member to say what it knows?

The answers are decoded from bytes as Prometheus sends them, judged, combined, limited, calmed and committed;
nothing waits for anybody. A snapshot is what a member makes of itself some times a second.
"""

import asyncio
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from bench.figure import Figure, cpu_s
from springtide.engine.replicas.deciding import Deciding, EvaluationDue, Rulebook, step
from springtide.engine.replicas.round_messages import StatusSeen
from springtide.engine.replicas.setup import course, first_windows
from springtide.engine.replicas.verdicts import Circumstance, judge
from springtide.model.replicas.policy import Aggregation, Operator, Policy
from springtide.model.replicas.status import Status
from springtide.wire.prometheus import read_answer
from tests.members import EPOCH_S, SETTINGS, fleet
from tests.virtual import run

POLICIES: Final = 100
MEMBERS: Final = 15
EVALUATIONS: Final = 100
SNAPSHOTS: Final = 200
NOW_MS: Final = int(EPOCH_S * 1000)
INTERVAL_MS: Final = 20_000
LISTED: Final = tuple(
    Policy(
        name=f"load_{number}",
        aggregation=Aggregation(operator=Operator.SUM),
        up_per_replica=100,
        down_per_replica=80,
    )
    for number in range(POLICIES)
)


def measure() -> Iterator[Figure]:
    """Yield what an evaluation takes, from bytes to a decision, and what a snapshot takes."""
    seconds = cpu_s(_evaluations, repeat=3) / EVALUATIONS
    how = f"{POLICIES} policies, from the bytes of their answers to the decision"
    yield Figure("evaluation", 1000 * seconds, "ms", how)
    yield Figure(
        "snapshot", 1e6 * run(_snapshots()), "µs", f"{MEMBERS} members, {POLICIES} policies"
    )


def _evaluations() -> None:
    settings = replace(SETTINGS, custom=LISTED)
    book = Rulebook(policies=LISTED, course=course(settings))
    windows = first_windows(settings, now_ms=0, expect=MEMBERS)
    state, _ = step(book, Deciding(windows=windows), _seen())
    for number in range(EVALUATIONS):
        at_ms = NOW_MS + number * INTERVAL_MS
        circumstance = Circumstance(now_ms=at_ms, members_expected=MEMBERS)
        judged = {
            each.name: judge(each, read_answer(200, _body(at_ms, number)), circumstance)
            for each in LISTED
        }
        due = EvaluationDue(
            judged=judged,
            observed=MEMBERS,
            now_ms=at_ms,
            steady_ms=number * INTERVAL_MS,
            cause="bench",
        )
        state, _ = step(book, state, due)


async def _snapshots() -> float:
    """Return the seconds that one snapshot takes in a leader that has pulled everything."""
    async with fleet(MEMBERS, replace(SETTINGS, custom=LISTED), load=1200) as found:
        await asyncio.sleep(90)
        showing = found.members["chat-0"].controller._parts.showing  # noqa: SLF001

        def snapshots() -> None:
            for _ in range(SNAPSHOTS):
                showing.snapshot()

        return cpu_s(snapshots, repeat=3) / SNAPSHOTS


def _seen() -> StatusSeen:
    status = Status(
        current=MEMBERS,
        expect=MEMBERS,
        start_ms=NOW_MS,
        end_ms=NOW_MS,
        scaling_ms=NOW_MS,
        generation=1,
    )
    return StatusSeen(status=status, revision=1, now_ms=NOW_MS, cause="bench")


def _body(at_ms: int, number: int) -> bytes:
    """Return an answer as Prometheus sends it; the load goes up and down."""
    rows = (("v", 1200 + 300 * (number % 3)), ("n", MEMBERS), ("age", 3.2))
    result = [
        {"metric": {"hpa_q": name}, "value": [at_ms / 1000, str(value)]} for name, value in rows
    ]
    data = {"resultType": "vector", "result": result}
    return msgspec.json.encode({"status": "success", "data": data})
