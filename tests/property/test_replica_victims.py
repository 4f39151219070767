"""A Deployment whose controller picks by its own order, against the coordination of its members.

Ten seconds a turn, and a minute for each part of a round. Members follow their labels, drain when
they like, and lose Kubernetes' readiness only while they do not serve. The autoscaler takes the
larger of both numbers, up to two turns late.
"""

from typing import Final, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.engine.replicas.allocation import allocate
from springtide.engine.replicas.gates import LabelRules, Plan
from springtide.engine.replicas.label_messages import Check, Looked, StatusKnown
from springtide.engine.replicas.labels import Labels
from springtide.engine.replicas.labels import step as label_step
from springtide.engine.replicas.phases import exported
from springtide.engine.replicas.round_messages import Decided, PutStatus, Written
from springtide.engine.replicas.rounds import Course, Rounds
from springtide.engine.replicas.rounds import step as round_step
from springtide.engine.replicas.victims import (
    Coordination,
    Pod,
    PodsSeen,
    SetCost,
    WrongVictim,
    stateful_count,
)
from springtide.engine.replicas.victims import step as victim_step
from springtide.model.replicas.knobs import Knobs
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.status import Status

TURN_MS: Final = 10_000
FIRST: Final = 4
MOST: Final = 8
MINUTES: Final = Schedule(start_delay_ms=60_000, period_ms=60_000, scaling_delay_ms=60_000)
KNOBS: Final = Knobs(waits_for_drain=True)
COURSE: Final = Course(schedule=MINUTES, limits=Limits(replicas_max=MOST), knobs=KNOBS)
RULES: Final = LabelRules(schedule=MINUTES, init_wait_ms=TURN_MS)


class Turn(NamedTuple):
    """What is wanted, from which member on they drain, who is not ready, how late the autoscaler is, and who dies."""

    wanted: int
    turns: int
    drained: int
    unready: int
    late: int
    killed: int = 0


TURNS = st.lists(
    st.builds(
        Turn,
        st.integers(1, MOST),
        st.integers(1, 40),
        st.integers(0, MOST),
        st.integers(0, MOST),
        st.integers(0, 2),
        st.integers(0, MOST),
    ),
    min_size=1,
    max_size=8,
)


class Member(NamedTuple):
    """One pod as it is."""

    name: str
    labels: Labels
    created: int
    holds_state: bool = True
    is_pod_ready: bool = True
    cost: int = 0


class Fleet:
    """The pods, the leader, the autoscaler and the controller."""

    def __init__(self, *, is_coordinated: bool = True) -> None:
        self.is_coordinated = is_coordinated
        self.now_ms = 0
        self.created = 0
        self.deleted: list[Member] = []
        self.told: list[WrongVictim] = []
        self.members: list[Member] = []
        self.coordination = Coordination()
        self.replicas = FIRST
        first = Status(
            current=FIRST, expect=FIRST, start_ms=0, end_ms=0, scaling_ms=0, generation=1
        )
        self.rounds = Rounds(status=first, revision=1)
        self.pending: list[int] = []

    @property
    def status(self) -> Status:
        """What all of them follow."""
        assert self.rounds.status is not None
        return self.rounds.status

    def turn(self, turn: Turn) -> None:
        """Ten seconds pass."""
        self.now_ms += TURN_MS
        self.members = [self.looked(each, turn) for each in self.members]
        self.lead(turn.wanted)
        self.scale(turn.late)
        self.control()

    def kill(self, index: int) -> None:
        """A member dies, and its place is free for a new one."""
        self.members = [each for each in self.members if each.labels.plan.index != index]

    def looked(self, member: Member, turn: Turn) -> Member:
        """A member follows its labels; those from a number on drain once they are no Targets."""
        index = member.labels.plan.index
        leaves = not member.labels.is_target and (index or 0) >= turn.drained
        holds_state = member.labels.is_target or (member.holds_state and not leaves)
        look = Looked(
            now_ms=self.now_ms,
            cause="tick",
            ready=Check.YES,
            stateful=Check.YES if holds_state else Check.NO,
        )
        labels, _ = label_step(RULES, member.labels, StatusKnown(status=self.status, cause="w"))
        labels, _ = label_step(RULES, labels, look)
        is_pod_ready = labels.is_ready or index != turn.unready
        return member._replace(labels=labels, holds_state=holds_state, is_pod_ready=is_pod_ready)

    def pods(self) -> tuple[Pod, ...]:
        """The pods as the leader sees them."""
        return tuple(
            Pod(
                name=each.name,
                index=each.labels.plan.index or 0,
                is_target=each.labels.is_target,
                is_ready=each.labels.is_ready,
                is_pod_ready=each.is_pod_ready,
                cost=each.cost,
            )
            for each in self.members
        )

    def lead(self, wanted: int) -> None:
        """The leader writes costs, and a status."""
        seen = PodsSeen(
            pods=self.pods(),
            expect=self.status.expect,
            steady_ms=self.now_ms,
            cause="look",
            replicas=self.replicas,
        )
        self.coordination, commands = victim_step(self.coordination, seen)
        for command in commands:
            match command:
                case SetCost(pod=pod, cost=cost) if self.is_coordinated:
                    self.members = [
                        each._replace(cost=cost) if each.name == pod else each
                        for each in self.members
                    ]
                case WrongVictim():
                    self.told.append(command)
                case _:
                    pass
        decided = Decided(
            replicas=wanted,
            observed=len(self.members),
            now_ms=self.now_ms,
            why="load",
            cause="test",
            are_victims_drained=self.coordination.are_drained or not self.is_coordinated,
        )
        self.rounds, puts = round_step(COURSE, self.rounds, decided)
        if any(isinstance(each, PutStatus) for each in puts):
            written = Written(revision=self.rounds.revision + 1, cause="put")
            self.rounds, _ = round_step(COURSE, self.rounds, written)

    def scale(self, late: int) -> None:
        """The autoscaler takes the larger number, of now or of some turns ago."""
        expect = exported(self.status, self.now_ms, knobs=KNOBS)
        self.pending.append(max(expect, stateful_count(self.pods())))
        self.replicas = max(self.pending[-1 - late :])

    def control(self) -> None:
        """Its controller deletes those not ready, then the cheapest, then the newest."""
        while len(self.members) > self.replicas:
            victim = min(
                self.members, key=lambda each: (each.is_pod_ready, each.cost, -each.created)
            )
            self.members.remove(victim)
            self.deleted.append(victim)
        while len(self.members) < self.replicas:
            self.created += 1
            name = f"chat-{self.created}"
            taken = {each.labels.plan.index or 0: each.name for each in self.members}
            plan = Plan(booted_ms=self.now_ms, index=allocate(taken, name))
            self.members.append(Member(name, Labels(plan=plan), self.created))


def lived(turns: list[Turn], *, is_coordinated: bool = True) -> Fleet:
    """Return the fleet after these turns, of which each lasts."""
    fleet = Fleet(is_coordinated=is_coordinated)
    for _ in range(12):
        fleet.turn(Turn(FIRST, 1, 0, 0, 0))
    for turn in turns:
        fleet.kill(turn.killed)
        for _ in range(turn.turns):
            fleet.turn(turn)
    return fleet


@settings(max_examples=200, deadline=None)
@given(TURNS)
def test_no_serving_member_of_a_coordinated_deployment_is_taken_away(turns: list[Turn]) -> None:
    """Covers R-38 in part."""
    fleet = lived(turns)

    assert [each.name for each in fleet.deleted if each.labels.is_ready] == []
    assert fleet.told == [] or any(each.killed for each in turns)


def test_a_coordinated_deployment_shrinks_once_its_members_drained() -> None:
    """Covers R-38 in part."""
    drains = [Turn(2, 30, 4, 0, 0), Turn(2, 2, 3, 0, 0), Turn(2, 10, 0, 0, 0)]

    before, after = lived(drains[:1]), lived(drains)

    assert before.replicas == FIRST
    assert (after.replicas, len(after.deleted)) == (2, 2)
    assert after.status.expect == 2


def test_without_coordination_the_controller_takes_a_serving_member_and_that_is_told() -> None:
    """The costs are what it needs: the law above would not hold by itself."""
    drains = [Turn(4, 30, 0, 0, 0, killed=1), Turn(3, 30, 4, 0, 0)]

    wrong, right = lived(drains, is_coordinated=False), lived(drains)

    assert [each.labels.stateful_index for each in wrong.deleted] == [1]
    assert [each.labels.stateful_index for each in right.deleted] == [0]
    assert len(wrong.told) == 1
