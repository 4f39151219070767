"""Executors outside Kubernetes, event by event."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from msgspec.structs import replace

from springtide.engine.replicas.executing import (
    Command,
    Event,
    Execution,
    ExecutionRules,
    Failed,
    Kill,
    Observe,
    Observed,
    Phase,
    Refuse,
    Remember,
    Scaled,
    ScaleTo,
    Start,
    Started,
    StopGracefully,
    Stopped,
    Tick,
    TimedOut,
    Unobserved,
    Wanted,
    Wish,
    step,
)
from springtide.model.replicas.execution import Node, NodeState, Observation

RULES = ExecutionRules(least=1, most=10)
BY_NUMBER = ExecutionRules(least=1, most=10, by_number=True)
SECOND_MS = 1000


def wish(
    expect: int | None,
    floor: int | None = 0,
    *,
    generation: int | None = 8,
    ready: Iterable[int] | None = (),
    spoken: int | None = None,
) -> Wish:
    """Return what is wanted, with who must serve."""
    serving = None if floor is None or ready is None else frozenset(ready)
    return Wish(
        generation=generation, expect=expect, floor=floor, ready=serving, spoken=spoken, why="test"
    )


def members(*indexes: int, **states: NodeState) -> Observation:
    """Return members that run, or are as said by `m3=...`."""
    nodes = [
        Node(id=f"chat-{index}", index=index, state=states.get(f"m{index}", NodeState.RUNNING))
        for index in indexes
    ]
    return Observation(replicas=len(nodes), nodes=tuple(nodes))


class Executor:
    """A machine that is told of events, one second after the other."""

    def __init__(self, rules: ExecutionRules = RULES) -> None:
        self.rules = rules
        self.state = Execution()
        self.now_ms = 0

    def tell(self, event: Event) -> tuple[Command, ...]:
        """Fold one event."""
        self.state, commands = step(self.rules, self.state, event)
        return commands

    def want(self, wanted: Wish) -> tuple[Command, ...]:
        """Tell what is wanted."""
        return self.tell(Wanted(wish=wanted, now_ms=self.now_ms, cause="wish"))

    def see(self, observation: Observation, *, later_s: float = 0) -> tuple[Command, ...]:
        """Tell what there is, some time later."""
        self.now_ms += round(later_s * SECOND_MS)
        now_ms = self.now_ms
        event = Observed(observation=observation, asked_ms=now_ms, now_ms=now_ms, cause="look")
        return self.tell(event)

    def decide(
        self, wanted: Wish, observation: Observation, *, later_s: float = 0
    ) -> tuple[Command, ...]:
        """Tell both, and return the orders."""
        self.now_ms += round(later_s * SECOND_MS)
        self.want(wanted)
        return self.see(observation)


def said(commands: Iterable[Command]) -> list[tuple[str, int]]:
    """Return orders without their words, which must be sentences."""
    found = []
    for each in commands:
        assert each.why.endswith(".")
        match each:
            case Start(index=index) | StopGracefully(index=index) | Kill(index=index):
                found.append((type(each).__name__, index))
            case ScaleTo(order=order):
                found.append(("ScaleTo", order.desired))
            case _:
                found.append((type(each).__name__, 0))
    return found


def test_x_1_what_is_missing_is_started_from_the_lowest_on() -> None:
    """Covers R-56 in part."""
    executor = Executor()

    orders = executor.decide(wish(3), members(1))

    assert said(orders) == [("Start", 2), ("Start", 3)]
    assert executor.state.phase is Phase.GROWING


def test_x_1_a_number_is_ordered_where_numbers_are_taken() -> None:
    orders = Executor(BY_NUMBER).decide(wish(3, 1, ready=[1]), Observation(replicas=1))

    (order,) = orders
    assert isinstance(order, ScaleTo)
    assert order.order.desired == 3
    assert order.order.current == 1
    assert order.order.keep == (1,)


@pytest.mark.parametrize("rules", [RULES, BY_NUMBER])
def test_x_2_the_same_twice_has_one_effect(rules: ExecutionRules) -> None:
    """Covers R-47 in part, R-56."""
    executor = Executor(rules)
    first = executor.decide(wish(2), members(1))

    during = executor.want(wish(2))
    for order in first:
        match order:
            case Start(index=index):
                executor.tell(Started(index=index, now_ms=1, cause="done"))
            case ScaleTo(order=scale):
                executor.tell(Scaled(desired=scale.desired, now_ms=1, cause="done"))
            case _:
                raise AssertionError(order)
    again = executor.decide(wish(2), members(1, 2), later_s=1)

    assert len(first) == 1
    assert during == ()
    assert again == ()
    assert executor.state.phase is Phase.STEADY


@pytest.mark.parametrize("rules", [RULES, BY_NUMBER])
def test_x_3_nobody_is_stopped_who_must_serve(rules: ExecutionRules) -> None:
    """Covers R-56 in part."""
    executor = Executor(rules)

    by_floor = executor.decide(wish(2, 4), members(1, 2, 3, 4))
    by_ready = executor.decide(wish(2, 2, ready=[1, 4]), members(1, 2, 3, 4), later_s=1)

    assert by_floor == by_ready == ()
    assert "must keep serving" in executor.state.why


def test_x_3_who_has_drained_is_stopped_from_the_highest_down_one_at_a_time() -> None:
    """Covers R-56."""
    executor = Executor()
    wanted = wish(2, 2, ready=[1, 2])

    first = executor.decide(wanted, members(1, 2, 3, 4))
    executor.tell(Stopped(index=4, now_ms=0, cause="done"))
    waiting = executor.see(members(1, 2, 3, 4, m4=NodeState.STOPPING), later_s=10)
    second = executor.decide(wanted, members(1, 2, 3), later_s=1)
    executor.tell(Stopped(index=3, now_ms=executor.now_ms, cause="done"))
    last = executor.decide(wanted, members(1, 2), later_s=1)

    assert said(first) == [("StopGracefully", 4)]
    assert waiting == ()
    assert said(second) == [("StopGracefully", 3)]
    assert last == ()
    assert executor.state.phase is Phase.STEADY


def test_x_3_a_number_is_lowered_one_at_a_time() -> None:
    executor = Executor(BY_NUMBER)
    wanted = wish(2, 2, ready=[1, 2])

    first = executor.decide(wanted, members(1, 2, 3, 4))
    executor.tell(Scaled(desired=3, now_ms=0, cause="done"))
    waiting = executor.see(members(1, 2, 3, 4, m4=NodeState.STOPPING), later_s=40)
    second = executor.decide(wanted, members(1, 2, 3), later_s=1)

    assert said(first) == [("ScaleTo", 3)]
    assert waiting == ()
    assert said(second) == [("ScaleTo", 2)]


@pytest.mark.parametrize("rules", [RULES, BY_NUMBER])
def test_x_4_an_unknown_outcome_is_looked_into_before_anything_is_repeated(
    rules: ExecutionRules,
) -> None:
    """Covers R-28 in part, R-56 in part."""
    executor = Executor(rules)
    executor.decide(wish(2), members(1))

    looked = executor.tell(TimedOut(index=2, words="late", now_ms=0, cause="done"))
    starting = executor.see(members(1, 2, m2=NodeState.STARTING), later_s=1)

    assert said(looked) == [("Observe", 0)]
    assert starting == ()


@pytest.mark.parametrize("rules", [RULES, BY_NUMBER])
def test_x_4_what_does_not_show_is_repeated_only_when_it_would_have_shown(
    rules: ExecutionRules,
) -> None:
    executor = Executor(rules)
    executor.decide(wish(2), members(1))
    executor.tell(TimedOut(index=2, words="late", now_ms=0, cause="done"))

    early = executor.decide(wish(2), members(1), later_s=29)
    late = executor.decide(wish(2), members(1), later_s=1)

    assert early == ()
    assert len(late) == 1


def test_x_5_an_older_generation_is_refused() -> None:
    """Covers R-56 in part."""
    executor = Executor()

    taken = executor.want(wish(4, generation=8))
    refused = executor.want(wish(2, generation=7))
    orders = executor.see(members(1, 2, 3))

    assert said(taken) == [("Remember", 0), ("Observe", 0)]
    (refusal,) = refused
    assert isinstance(refusal, Refuse)
    assert "Generation 7 is older than 8" in refusal.why
    assert said(orders) == [("Start", 4)]


def test_a_generation_that_was_kept_refuses_older_ones_after_a_restart() -> None:
    executor = Executor()
    executor.state = Execution(generation=8)

    refused = executor.want(wish(2, generation=7))
    same = executor.want(wish(2, generation=8))

    assert said(refused) == [("Refuse", 0), ("Observe", 0)]
    assert not any(isinstance(each, Remember) for each in same)


@pytest.mark.parametrize("rules", [RULES, BY_NUMBER])
@pytest.mark.parametrize("observation", [members(1), members(1, 2, 3, 4, 5)])
def test_x_6_without_a_number_nothing_is_started_or_stopped(
    rules: ExecutionRules, observation: Observation
) -> None:
    """Covers R-46 in part, R-56 in part."""
    executor = Executor(rules)

    for wanted in (wish(None, 2), wish(0, 2), wish(3, 2, generation=None)):
        assert executor.decide(wanted, observation, later_s=1) == ()
        assert "unknown" in executor.state.why


def test_without_a_floor_members_are_only_added() -> None:
    executor = Executor()

    grown = executor.decide(wish(3, None), members(1, 2))
    executor.tell(Started(index=3, now_ms=0, cause="done"))
    kept = executor.decide(wish(1, None), members(1, 2, 3), later_s=1)

    assert said(grown) == [("Start", 3)]
    assert kept == ()
    assert "is unknown" in executor.state.why


def test_a_floor_counts_only_if_all_members_have_spoken() -> None:
    executor = Executor()

    silent = executor.decide(wish(2, 2, ready=[1, 2], spoken=3), members(1, 2, 3, 4))
    spoken = executor.decide(wish(2, 2, ready=[1, 2], spoken=4), members(1, 2, 3, 4), later_s=1)
    trusting = Executor(replace(RULES, checks_members=False))
    trusted = trusting.decide(wish(2, 2, ready=[1, 2], spoken=3), members(1, 2, 3, 4))

    assert silent == ()
    assert said(spoken) == said(trusted) == [("StopGracefully", 4)]


def test_a_wish_that_nobody_repeats_expires() -> None:
    executor = Executor()
    executor.want(wish(5))

    orders = executor.see(members(1), later_s=61)

    assert orders == ()
    assert "nothing has been heard for 60 s" in executor.state.why


def test_bounds_hold_and_spare_who_stands_above_them() -> None:
    """Covers R-57 in part."""
    executor = Executor(replace(RULES, least=2, most=3))

    low = executor.decide(wish(1), members(1))
    executor.tell(Started(index=2, now_ms=0, cause="done"))
    above = executor.decide(wish(9, 4, ready=[4]), members(1, 2, 3, 4), later_s=1)

    assert said(low) == [("Start", 2)]
    assert above == ()
    assert "bounds.max" in executor.state.why


def test_a_member_is_killed_only_where_that_is_wanted() -> None:
    """Covers R-56 in part."""
    wanted = wish(1, 1, ready=[1])
    stopping = members(1, 2, m2=NodeState.STOPPING)
    patient, forcing = Executor(), Executor(replace(RULES, force_after_ms=40_000))

    for executor in (patient, forcing):
        executor.decide(wanted, members(1, 2))
        executor.tell(Stopped(index=2, now_ms=0, cause="done"))
    waits = [each.decide(wanted, stopping, later_s=39) for each in (patient, forcing)]
    overdue = patient.decide(wanted, stopping, later_s=60)
    killed = forcing.decide(wanted, stopping, later_s=1)
    forcing.tell(Stopped(index=2, now_ms=forcing.now_ms, cause="done"))
    after = forcing.decide(wanted, stopping, later_s=10)

    assert waits == [(), ()]
    assert overdue == after == ()
    assert "still runs" in patient.state.why
    assert said(killed) == [("Kill", 2)]


def test_a_kill_that_failed_is_tried_again_and_who_must_serve_again_is_spared() -> None:
    executor = Executor(replace(RULES, force_after_ms=30_000))
    stopping = members(1, 2, m2=NodeState.STOPPING)
    executor.decide(wish(1, 1), members(1, 2))
    executor.tell(Stopped(index=2, now_ms=0, cause="done"))

    first = executor.decide(wish(1, 1), stopping, later_s=30)
    executor.tell(Failed(index=2, words="no", now_ms=executor.now_ms, cause="done"))
    spared = executor.decide(wish(1, 2, ready=[1, 2]), stopping, later_s=20)
    again = executor.decide(wish(1, 1), stopping, later_s=20)

    assert said(first) == said(again) == [("Kill", 2)]
    assert spared == ()


def test_a_member_that_is_wanted_again_while_it_stops_is_started_when_it_has_ended() -> None:
    executor = Executor()
    executor.decide(wish(1, 1), members(1, 2))
    executor.tell(Stopped(index=2, now_ms=0, cause="done"))

    during = executor.decide(wish(2, 1), members(1, 2, m2=NodeState.STOPPING), later_s=1)
    after = executor.decide(wish(2, 1), members(1), later_s=1)

    assert during == ()
    assert said(after) == [("Start", 2)]


def test_a_stop_without_effect_is_asked_for_again() -> None:
    executor = Executor()
    executor.decide(wish(1, 1), members(1, 2))
    executor.tell(Failed(index=2, words="no", now_ms=0, cause="done"))

    early = executor.decide(wish(1, 1), members(1, 2), later_s=1)
    late = executor.decide(wish(1, 1), members(1, 2), later_s=5)
    executor.tell(TimedOut(index=2, words="late", now_ms=executor.now_ms, cause="done"))
    unknown = executor.decide(wish(1, 1), members(1, 2), later_s=31)

    assert early == ()
    assert said(late) == said(unknown) == [("StopGracefully", 2)]


def test_another_one_that_is_stopping_is_waited_for() -> None:
    executor = Executor()

    orders = executor.decide(wish(1, 1), members(1, 2, 3, m2=NodeState.STOPPING))

    assert orders == ()
    assert "Member 2" in executor.state.why


def test_a_member_that_keeps_ending_is_started_ever_more_rarely() -> None:
    executor = Executor()
    at_s = []

    for second in range(200):
        if executor.decide(wish(2), members(1), later_s=1):
            at_s.append(second)
            executor.tell(Started(index=2, now_ms=executor.now_ms, cause="done"))

    gaps = [after - before for before, after in pairwise(at_s)]
    assert gaps == [5, 10, 20, 40, 80]


def test_a_gap_is_filled_before_anybody_is_stopped() -> None:
    executor = Executor()

    orders = executor.decide(wish(3), members(1, 3, 4))

    assert said(orders) == [("Start", 2)]


def test_no_more_than_a_bound_is_started_before_it_is_looked_again() -> None:
    executor = Executor(replace(RULES, most=40))

    orders = executor.decide(wish(40), members())

    assert said(orders) == [("Start", index) for index in range(1, 17)]


def test_who_ends_unasked_while_it_serves_is_started_again_though_fewer_are_wanted() -> None:
    """Covers R-58 in part."""
    executor = Executor()
    executor.decide(wish(2, 4, ready=[1, 2, 4]), members(1, 2, 3, 4))

    orders = executor.decide(wish(2, 4, ready=[1, 2, 4]), members(1, 2, 3), later_s=1)
    executor.tell(Started(index=4, now_ms=executor.now_ms, cause="done"))
    silent = executor.decide(wish(2, 2, ready=[1, 2]), members(1, 2, 3, 4), later_s=1)
    settled = executor.decide(wish(2, 2, ready=[1, 2]), members(1, 2, 3, 4), later_s=60)

    assert said(orders) == [("Start", 4)]
    assert silent == ()
    assert said(settled) == [("StopGracefully", 4)]


def test_what_cannot_be_seen_moves_nothing_and_is_looked_at_again() -> None:
    executor = Executor()
    executor.want(wish(3))

    nothing = executor.tell(Unobserved(words="it is away.", now_ms=0, cause="look"))
    again = executor.tell(Tick(now_ms=1000, cause="clock"))
    twice = executor.tell(Tick(now_ms=1001, cause="clock"))

    assert nothing == twice == ()
    assert said(again) == [("Observe", 0)]
    assert "it is away." in executor.state.why


def test_what_was_seen_before_an_order_ended_does_not_count() -> None:
    executor = Executor()
    executor.decide(wish(2), members(1))
    executor.tell(Started(index=2, now_ms=500, cause="done"))

    stale = Observed(observation=members(1), asked_ms=400, now_ms=600, cause="look")
    commands = executor.tell(stale)

    assert commands == (Observe(commands[0].why),)


def test_who_was_started_a_moment_ago_is_stopped_a_little_later() -> None:
    executor = Executor()
    executor.decide(wish(2), members(1))
    executor.tell(Started(index=2, now_ms=0, cause="done"))
    executor.decide(wish(2), members(1, 2), later_s=1)

    early = executor.decide(wish(1), members(1, 2), later_s=1)
    why = executor.state.why
    late = executor.decide(wish(1), members(1, 2), later_s=4)

    assert early == ()
    assert "a moment ago" in why
    assert said(late) == [("StopGracefully", 2)]
