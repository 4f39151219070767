"""Laws of executors that tell a number: never below who must serve, one fewer at a time, and at rest in the end."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.replicas.executing import (
    Event,
    Execution,
    ExecutionRules,
    Failed,
    Observe,
    Observed,
    Phase,
    Scaled,
    ScaleTo,
    TimedOut,
    Wanted,
    Wish,
    step,
)
from springtide.model.replicas.execution import Observation

MOST = 6
RULES = ExecutionRules(least=1, most=MOST, by_number=True, settle_ms=30_000)
EVENTS_MAX = 20
ROUNDS_MAX = 200
STEPS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(1, MOST + 2)),
        st.one_of(st.none(), st.integers(0, MOST)),
        st.sampled_from(["", "", "fails", "hangs", "acts and hangs"]),
        st.integers(1, 40),
    ),
    max_size=30,
)


class World:
    """A number, and whoever has it changed by orders that may fail or hang."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.count = 1
        self.state = Execution()
        self.wish = Wish()
        self.fault = ""

    def want(self, expect: int | None, floor: int | None) -> None:
        """Tell what is wanted, and do what comes of it."""
        ready = None if floor is None else frozenset(range(1, floor + 1))
        self.wish = Wish(generation=1, expect=expect, floor=floor, ready=ready, why="test")
        events: deque[Event] = deque([Wanted(wish=self.wish, now_ms=self.now_ms, cause="wish")])
        for _ in range(EVENTS_MAX):
            if not events:
                return
            self.state, commands = step(RULES, self.state, events.popleft())
            for command in commands:
                match command:
                    case Observe():
                        events.append(self.observed())
                    case ScaleTo():
                        events.append(self.ordered(command))
                    case _:
                        pass
        raise AssertionError("it never comes to rest")

    def observed(self) -> Event:
        """Say how many there are."""
        found = Observation(replicas=self.count)
        now_ms = self.now_ms
        return Observed(observation=found, asked_ms=now_ms, now_ms=now_ms, cause="look")

    def ordered(self, command: ScaleTo) -> Event:
        """Hold an order against the laws, and carry it out as well as it goes."""
        order, wish, fault, self.fault = command.order, self.wish, self.fault, ""
        assert wish.expect is not None
        assert 1 <= order.desired <= MOST
        assert order.current == self.count
        assert order.desired != self.count
        if order.desired < self.count:
            assert wish.floor is not None
            assert order.desired >= wish.floor
            assert order.desired == self.count - 1
        told = {"index": order.desired, "words": "It broke.", "now_ms": self.now_ms}
        if fault == "fails":
            return Failed(**told, cause="done")  # type: ignore[arg-type]
        if fault != "hangs":
            self.count = order.desired
        if fault:
            return TimedOut(**told, cause="done")  # type: ignore[arg-type]
        return Scaled(desired=order.desired, now_ms=self.now_ms, cause="done")


@given(STEPS, st.integers(1, MOST), st.integers(0, MOST))
def test_a_number_is_never_below_who_must_serve_and_comes_to_what_is_wanted(
    steps: list[tuple[int | None, int | None, str, int]], expect: int, floor: int
) -> None:
    """Covers R-56 in part."""
    world = World()

    for wanted, serving, fault, seconds in steps:
        world.now_ms += seconds * 1000
        world.fault = fault
        world.want(wanted, serving)
    for _ in range(ROUNDS_MAX):
        world.now_ms += 10_000
        world.want(expect, floor)

    assert world.count == max(expect, floor)
    assert world.state.phase is Phase.STEADY
