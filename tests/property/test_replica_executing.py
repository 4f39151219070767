"""Laws of executors, in a naive world whose orders fail, hang, or have their effect late.

Nobody is started who is there already, nobody stopped who must serve, one member stops at a time, and when
the faults end there are as many members as wanted.
"""

from collections import deque
from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from springtide.engine.replicas.executing import (
    Command,
    Event,
    Execution,
    ExecutionRules,
    Failed,
    Kill,
    Observe,
    Observed,
    Order,
    Phase,
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

MOST = 4
SETTLE_S = 30
ROUNDS_MAX = 300
INDEXES = st.integers(1, MOST)
FAULTS = st.sampled_from(["fails", "hangs", "acts and hangs", "acts late", "is blind"])
COMMANDS_MAX = 100
RULES = ExecutionRules(
    least=1, most=MOST, settle_ms=SETTLE_S * 1000, force_after_ms=90_000, grace_ms=30_000
)


class World:
    """Members as they are, and what the last wish said of who must serve."""

    def __init__(self) -> None:
        self.now_s = 0
        self.members: dict[int, NodeState] = {}
        self.serving: set[int] = set()
        self.late: list[tuple[int, int]] = []
        self.told = Wish()

    def start(self, index: int) -> None:
        """Start a member, which must not be there."""
        assert index not in self.members, f"{index} is started twice"
        self.members[index] = NodeState.STARTING
        self.serving.add(index)

    def may_stop(self, index: int) -> None:
        """Hold an order against who must serve."""
        wish = self.told
        assert wish.expect is not None, "it is unknown how many are wanted"
        assert wish.floor is not None, "it is unknown who must serve"
        assert wish.ready is not None, "it is unknown who must serve"
        assert index > wish.floor, f"{index} is protected by the floor"
        assert index not in wish.ready, f"{index} must serve"
        assert index not in self.serving, f"{index} has not drained"
        others = {each for each, state in self.members.items() if state is NodeState.STOPPING}
        assert not others - {index}, "two stop at a time"
        assert index == max(self.members), f"{index} is not the highest"

    def stop(self, index: int) -> None:
        """Ask a member to stop."""
        if index in self.members:
            self.members[index] = NodeState.STOPPING

    def end(self, index: int) -> None:
        """Let a member end."""
        self.members.pop(index, None)
        self.serving.discard(index)

    def pass_s(self, seconds: int) -> None:
        """Let time pass: who starts runs, and what was late has its effect."""
        self.now_s += seconds
        due = [index for at_s, index in self.late if at_s <= self.now_s]
        self.late = [each for each in self.late if each[0] > self.now_s]
        for index in due:
            self.start(index)
        for index, state in self.members.items():
            if state is NodeState.STARTING:
                self.members[index] = NodeState.RUNNING

    def observation(self) -> Observation:
        """Return who is there."""
        nodes = [
            Node(id=str(index), index=index, state=state)
            for index, state in sorted(self.members.items())
        ]
        return Observation(replicas=len(nodes), nodes=tuple(nodes))


class Executors(RuleBasedStateMachine):
    """One executor in its world; faults strike the next orders."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.state = Execution()
        self.generation = 1
        self.expect = 1
        self.faults: deque[str] = deque()

    @rule(
        expect=INDEXES,
        unknown=st.sampled_from(["", "low S", "E", "S"]),
        is_newer=st.booleans(),
        after_s=st.sampled_from([0, 10]),
    )
    def want(self, expect: int, unknown: str, is_newer: bool, after_s: int) -> None:  # noqa: FBT001
        self.world.pass_s(after_s)
        self.generation += is_newer
        self.expect = expect
        self.tell_wish(unknown)

    @rule()
    def want_what_is_outdated(self) -> None:
        before = self.state
        wish = Wish(generation=self.generation - 1, expect=1, floor=0, ready=frozenset())

        self.tell(Wanted(wish=wish, now_ms=self.now_ms, cause="wish"))

        if before.generation > self.generation - 1:
            assert self.state.wish == before.wish

    @rule(index=INDEXES)
    def drain(self, index: int) -> None:
        self.world.serving -= set(range(max(index, self.expect + 1), MOST + 1))

    @rule(index=INDEXES)
    def crash(self, index: int) -> None:
        self.world.end(index)

    @rule(seconds=st.integers(1, 40))
    def wait(self, seconds: int) -> None:
        self.world.pass_s(seconds)
        self.tell(Tick(now_ms=self.now_ms, cause="clock"))

    @rule(index=INDEXES)
    def exit(self, index: int) -> None:
        if self.world.members.get(index) is NodeState.STOPPING:
            self.world.end(index)

    @rule(fault=FAULTS)
    def strike(self, fault: str) -> None:
        self.faults.append(fault)

    @precondition(lambda self: not self.world.late)
    @rule()
    def restart(self) -> None:
        self.state = Execution(generation=self.state.generation)

    def teardown(self) -> None:
        self.faults.clear()
        for _ in range(ROUNDS_MAX):
            self.world.pass_s(10)
            for index, state in list(self.world.members.items()):
                if index > self.expect:
                    self.world.serving.discard(index)
                if state is NodeState.STOPPING:
                    self.world.end(index)
            self.tell_wish("")
        assert set(self.world.members) == set(range(1, self.expect + 1)), self.state
        assert self.state.phase is Phase.STEADY

    @property
    def now_ms(self) -> int:
        return self.world.now_s * 1000

    def tell_wish(self, unknown: str) -> None:
        serving = frozenset(self.world.serving)
        is_sure = unknown != "S"
        floor = 0 if unknown == "low S" else max(serving, default=0)
        self.world.told = Wish(
            generation=self.generation,
            expect=None if unknown == "E" else self.expect,
            floor=floor if is_sure else None,
            ready=serving if is_sure else None,
            spoken=len(self.world.members),
        )
        self.tell(Wanted(wish=self.world.told, now_ms=self.now_ms, cause="wish"))

    def tell(self, event: Event) -> None:
        events = deque([event])
        for _ in range(COMMANDS_MAX):
            if not events:
                return
            self.state, commands = step(RULES, self.state, events.popleft())
            self.check(commands)
            events += [found for each in commands if (found := self.perform(each)) is not None]
        raise AssertionError("it never comes to rest")

    def check(self, commands: Sequence[Command]) -> None:
        """Hold that no member has two orders at once, and that all is explained."""
        numbers = [each.index for each in commands if isinstance(each, Start)]
        assert len(numbers) == len(set(numbers))
        assert all(each.why.endswith(".") for each in commands)
        assert self.state.why.endswith(".")

    def perform(self, command: Command) -> Event | None:
        match command:
            case Observe():
                return self.observed()
            case Start() | StopGracefully() | Kill() | ScaleTo():
                return self.ordered(command)
            case _:
                return None

    def observed(self) -> Event:
        now_ms = self.now_ms
        if self.faults and self.faults[0] == "is blind":
            self.faults.popleft()
            return Unobserved(words="It is dark.", now_ms=now_ms, cause="look")
        observation = self.world.observation()
        return Observed(observation=observation, asked_ms=now_ms, now_ms=now_ms, cause="look")

    def ordered(self, order: Order) -> Event:
        assert not isinstance(order, ScaleTo)
        index, now_ms = order.index, self.now_ms
        if not isinstance(order, Start):
            self.world.may_stop(index)
        fault = self.faults.popleft() if self.faults else ""
        match fault:
            case "fails":
                return Failed(index=index, words="It broke.", now_ms=now_ms, cause="done")
            case "hangs" | "is blind":
                pass
            case "acts late" if isinstance(order, Start):
                assert index not in self.world.members
                self.world.late.append((self.world.now_s + SETTLE_S - 1, index))
            case _:
                self.act(order)
        if fault:
            return TimedOut(index=index, words="It hung.", now_ms=now_ms, cause="done")
        done = Started if isinstance(order, Start) else Stopped
        return done(index=index, now_ms=now_ms, cause="done")

    def act(self, order: Order) -> None:
        match order:
            case Start(index=index):
                self.world.start(index)
            case StopGracefully(index=index):
                self.world.stop(index)
            case Kill(index=index):
                self.world.end(index)
            case _:
                raise AssertionError(order)


Executors.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestExecutors = Executors.TestCase
