"""Laws of whole histories: any order of news, looks, stops and lost stores, on several members."""

from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.edge.store.fencing import Offer, Stored, refusal
from springtide.engine.replicas.deciding import Deciding, EvaluationDue, Rulebook
from springtide.engine.replicas.deciding import step as decision_step
from springtide.engine.replicas.gates import LabelRules, Plan
from springtide.engine.replicas.label_messages import (
    Check,
    Event,
    Looked,
    ShutdownPlanned,
    StatusKnown,
    StatusLost,
    StopAsked,
)
from springtide.engine.replicas.labels import Labels
from springtide.engine.replicas.labels import step as label_step
from springtide.engine.replicas.protection import (
    DrainedFully,
    MembersSeen,
    Protection,
    Served,
    floor,
)
from springtide.engine.replicas.protection import step as protection_step
from springtide.engine.replicas.round_messages import (
    Decided,
    NotWritten,
    PutStatus,
    ReadStatus,
    StatusSeen,
    Written,
)
from springtide.engine.replicas.rounds import Course, Rounds
from springtide.engine.replicas.rounds import step as round_step
from springtide.engine.replicas.verdicts import Judged, Unknown, UnknownReason
from springtide.engine.replicas.windows import Windows
from springtide.model.replicas.member import Record
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.status import Status

MEMBERS = 4
SECONDS = Schedule(start_delay_ms=3_000, period_ms=3_000, scaling_delay_ms=3_000)
RULES = LabelRules(schedule=SECONDS, init_wait_ms=2_000)
COURSE = Course(schedule=SECONDS, limits=Limits(replicas_max=8), cancel_after_ms=2_000)

CHECKS = st.sampled_from(list(Check))


class Step(NamedTuple):
    """What happens to members, so long after the step before."""

    kind: str
    number: int
    gap_ms: int
    ready: Check
    stateful: Check


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["status", "lost", "look", "stop", "shutdown"]),
        st.integers(1, MEMBERS),
        st.integers(0, 3_000),
        CHECKS,
        CHECKS,
    ),
    max_size=40,
)


def event_of(step: Step, *, now_ms: int, generation: int) -> Event:
    """Return the event of a step."""
    match step.kind:
        case "status":
            status = Status(
                current=MEMBERS,
                expect=step.number,
                start_ms=now_ms + 3_000,
                end_ms=now_ms + 6_000,
                scaling_ms=now_ms + 9_000,
                generation=generation,
            )
            return StatusKnown(status=status, cause="watch")
        case "lost":
            return StatusLost(cause="store")
        case "stop":
            return StopAsked(now_ms=now_ms, cause="preStop", is_ahead=True)
        case "shutdown":
            return ShutdownPlanned(at_ms=now_ms + 1_000, cause="operator")
        case _:
            return Looked(now_ms=now_ms, cause="tick", ready=step.ready, stateful=step.stateful)


@given(STEPS, st.integers(1, MEMBERS))
def test_no_member_that_may_hold_state_stops_serving_and_target_goes_first(
    steps: list[Step], index: int
) -> None:
    """Covers R-22, R-48 in part."""
    state, now_ms = Labels(plan=Plan(booted_ms=0, index=index)), 0

    for turn, step in enumerate(steps):
        now_ms += step.gap_ms
        event = event_of(step, now_ms=now_ms, generation=turn)
        before, (state, _) = state, label_step(RULES, state, event)

        if before.is_ready and not state.is_ready:
            assert isinstance(event, Looked)
            assert event.stateful in {Check.NO, Check.ABSENT}
            assert not before.is_target
        if state.is_ready and not before.is_ready:
            assert before.is_target
        assert state.stateful_index == (index if state.is_ready else 0)


@given(STEPS)
def test_the_target_is_never_empty_while_the_first_member_lives(
    steps: list[Step],
) -> None:
    members = {
        index: Labels(
            plan=Plan(booted_ms=0, index=index), is_target=True, is_ready=True, protected=index
        )
        for index in range(1, MEMBERS + 1)
    }
    now_ms = 0

    for turn, step in enumerate(steps):
        now_ms += step.gap_ms
        event = event_of(step, now_ms=now_ms, generation=turn)
        is_for_one = step.kind in {"stop", "shutdown"}
        told = {step.number} - {1} if is_for_one else members.keys()
        for index in told:
            members[index], _ = label_step(RULES, members[index], event)

        assert any(each.is_target for each in members.values())


DECISIONS = st.lists(
    st.tuples(
        st.sampled_from(["decide", "decide", "deliver", "lose", "watch", "delete", "rival"]),
        st.integers(1, 8),
        st.booleans(),
        st.integers(0, 4_000),
    ),
    max_size=40,
)


class Fleet:
    """Two members that both believe to lead, and a store that compares before it takes."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.revision = 0
        self.writes = 0
        self.status: Status | None = None
        self.lives: list[list[Status]] = [[]]
        self.leaders = [Rounds(), Rounds()]
        self.pending: list[PutStatus | None] = [None, None]

    def decide(self, at: int, replicas: int, *, is_unknown: bool) -> None:
        """One member has a number."""
        event = Decided(
            replicas=replicas,
            observed=4,
            now_ms=self.now_ms,
            why="load",
            cause="test",
            is_down_unknown=is_unknown,
        )
        self.leaders[at], commands = round_step(COURSE, self.leaders[at], event)
        puts = [each for each in commands if isinstance(each, PutStatus)]
        self.pending[at] = puts[0] if puts else self.pending[at]

    def deliver(self, *, is_lost: bool) -> None:
        """What is on its way to the store arrives, or does not."""
        for at, put in enumerate(self.pending):
            if put is None:
                continue
            is_taken = not is_lost and self._take(put)
            outcome = (
                Written(revision=self.revision, cause="put")
                if is_taken
                else NotWritten(cause="put")
            )
            self.leaders[at], commands = round_step(COURSE, self.leaders[at], outcome)
            self.pending[at] = None
            if ReadStatus() in commands:
                self.read(at)

    def read(self, at: int) -> None:
        """One member sees what the store holds."""
        event = StatusSeen(
            status=self.status, revision=self.revision, now_ms=self.now_ms, cause="read"
        )
        self.leaders[at], _ = round_step(COURSE, self.leaders[at], event)

    def delete(self) -> None:
        """The status is lost, and everybody sees it; revisions go on."""
        self.revision, self.status = 0, None
        self.lives.append([])
        self.read(0)
        self.read(1)

    def _take(self, put: PutStatus) -> bool:
        stored = Stored(token=1, revision=self.revision, status=self.status)
        if refusal(stored, Offer(token=1, revision=put.revision, status=put.status)) is not None:
            return False
        self.writes += 1
        self.revision, self.status = self.writes, put.status
        self.lives[-1].append(put.status)
        return True


@settings(max_examples=200)
@given(DECISIONS)
def test_generations_only_grow_and_each_new_number_has_its_own(
    steps: list[tuple[str, int, bool, int]],
) -> None:
    """Covers R-47 in part, R-55 in part."""
    fleet = Fleet()

    for kind, replicas, is_unknown, gap_ms in steps:
        fleet.now_ms += gap_ms
        match kind:
            case "decide" | "rival":
                fleet.decide(int(kind == "rival"), replicas, is_unknown=is_unknown)
            case "deliver" | "lose":
                fleet.deliver(is_lost=kind == "lose")
            case "watch":
                fleet.read(0)
                fleet.read(1)
            case _:
                fleet.delete()

    for life in fleet.lives:
        for before, after in pairwise(life):
            assert after.generation >= before.generation
            assert after.expect == before.expect or after.generation > before.generation


WINDOW_MS = 60_000
BOOK = Rulebook(
    policies=(
        Policy(name="a", up_per_replica=1, down_per_replica=1),
        Policy(name="b", down_per_replica=1),
    ),
    course=Course(limits=Limits(replicas_max=30)),
)
VERDICTS = st.integers(1, 30) | st.just(Unknown(UnknownReason.STALE, "It is old."))


@settings(max_examples=200)
@given(st.lists(st.tuples(VERDICTS, VERDICTS, st.integers(1, 90_000)), max_size=25))
def test_nobody_shrinks_within_a_window_of_anything_unknown(
    answers: list[tuple[int | Unknown, int | Unknown, int]],
) -> None:
    """Covers R-12 in part, R-46 in part."""
    first = Status(current=9, expect=9, start_ms=0, end_ms=0, scaling_ms=0, generation=1)
    state = Deciding(windows=Windows(up_ms=0, down_ms=WINDOW_MS))
    seen = StatusSeen(status=first, revision=1, now_ms=0, cause="watch")
    state, _ = decision_step(BOOK, state, seen)
    now_ms, expect, unknown_ms, revision = 0, 9, -WINDOW_MS, 1

    for a, b, gap_ms in answers:
        now_ms += gap_ms
        judged = {name: _both(each) for name, each in (("a", a), ("b", b))}
        due = EvaluationDue(
            judged=judged, observed=9, now_ms=now_ms, steady_ms=now_ms, cause="pull"
        )
        state, commands = decision_step(BOOK, state, due)
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            unknown_ms = now_ms
        for put in [each for each in commands if isinstance(each, PutStatus)]:
            revision += 1
            state, _ = decision_step(BOOK, state, Written(revision=revision, cause="put"))
            if put.status.expect < expect:
                assert now_ms - unknown_ms >= WINDOW_MS
            expect = put.status.expect


def _both(verdict: int | Unknown) -> Judged:
    found = Decimal(verdict) if isinstance(verdict, int) else verdict
    return Judged(up=found, down=found)


@given(
    st.lists(
        st.tuples(st.sampled_from(["serve", "crash", "drain"]), st.integers(1, MEMBERS)),
        max_size=30,
    )
)
def test_only_a_drain_lowers_the_floor(steps: list[tuple[str, int]]) -> None:
    """Covers R-58 in part."""
    state, runs = Protection(), dict.fromkeys(range(1, MEMBERS + 1), 0)
    holding: set[int] = set()

    for kind, index in steps:
        boot = f"{index}/{runs[index]}"
        record = Record(member=f"chat-{index - 1}", boot=boot, at_ms=0)
        if kind == "serve":
            state, _ = protection_step(state, Served(index=index, record=record, cause="label"))
            holding.add(index)
        elif kind == "crash":
            runs[index] += 1
            living = frozenset(f"{each}/{run}" for each, run in runs.items())
            state, _ = protection_step(state, MembersSeen(living=living, cause="members"))
        else:
            is_owner = index in state.records and state.records[index].boot == boot
            state, _ = protection_step(state, DrainedFully(index=index, boot=boot, cause="label"))
            holding -= {index} if is_owner else set()

        assert floor(state.records) == max(holding, default=0)
