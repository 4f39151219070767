"""Elections among several processes with clocks of their own, over a network that loses and delays.

Nobody leads while another does, whatever happens, and somebody does again when everything is well.
"""

import heapq
import itertools
import random
from collections.abc import Callable

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.engine.election import (
    Command,
    Election,
    Event,
    Finished,
    LeaseRead,
    LeaseSeen,
    LeaseUnknown,
    LeaseWritten,
    Led,
    Lost,
    ReadLease,
    Standing,
    Stopped,
    Tick,
    WakeAt,
    WriteLease,
)
from springtide.engine.election.standing import step
from springtide.model.lease import Lease

HEALTHY_S = 60.0


class Weather(msgspec.Struct, frozen=True, kw_only=True):
    """How bad things are until `calm_s`."""

    seed: int
    lost_pct: int
    delay_s_max: float
    calm_s: float


class World:
    """A server with one lease, the candidates, and what is still to happen."""

    def __init__(self, weather: Weather, count: int) -> None:
        self.now_s = 0.0
        self.lease: Lease | None = None
        self._weather = weather
        self._rng = random.Random(weather.seed)
        self._todo: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._renewals = itertools.count()
        self.candidates = [
            Candidate(self, f"host-{index}", self._rng.uniform(0, 1e6)) for index in range(count)
        ]

    def run(self, until_s: float) -> None:
        """Let everything happen up to this time."""
        while self._todo and self._todo[0][0] <= until_s:
            self.now_s, _, act = heapq.heappop(self._todo)
            act()
            self.check()
        self.now_s = until_s

    def check(self) -> None:
        """Assert that at most one leads."""
        assert sum(each.is_leading for each in self.candidates) <= 1

    def at(self, when_s: float, act: Callable[[], None]) -> None:
        """Have something happen then."""
        heapq.heappush(self._todo, (max(when_s, self.now_s), next(self._order), act))

    def delay_s(self) -> float:
        """Return how long the next message takes."""
        is_calm = self.now_s >= self._weather.calm_s
        return 0.01 if is_calm else self._rng.uniform(0, self._weather.delay_s_max)

    def is_lost(self) -> bool:
        """Return whether the next message gets nowhere."""
        return (
            self.now_s < self._weather.calm_s and self._rng.uniform(0, 100) < self._weather.lost_pct
        )

    def read(self) -> Lease | None:
        """Return the lease."""
        return self.lease

    def write(self, lease: Lease) -> Lease | None:
        """Write the lease, unless it has changed."""
        if lease.version != (self.lease.version if self.lease else ""):
            return None
        number = str(next(self._renewals))
        self.lease = msgspec.structs.replace(lease, renewed=number, version=f"v{number}")
        return self.lease


class Candidate:
    """A process: its state, and a shell that performs what it asks."""

    def __init__(self, world: World, identity: str, offset_s: float) -> None:
        self.election = Election(namespace="n", name="office", identity=identity)
        self.state = Standing()
        self.is_running = True
        self.is_finished = False
        self.told: list[Led | Lost] = []
        self._world = world
        self._offset_s = offset_s
        world.at(0.0, lambda: self.hear(Tick(self.now_s)))

    @property
    def now_s(self) -> float:
        """Return what our clock says."""
        return self._world.now_s + self._offset_s

    @property
    def is_leading(self) -> bool:
        """Return whether we would act as the leader now."""
        return self.is_running and self.state.is_leading(self.election, self.now_s)

    def hear(self, event: Event) -> None:
        """Fold an event, and perform what follows."""
        if self.is_running:
            self.state, commands = step(self.election, self.state, event)
            for command in commands:
                self._perform(command)

    def _perform(self, command: Command) -> None:
        match command:
            case ReadLease(within_s):
                self._ask(within_s, lambda: LeaseRead(self._world.read(), 0.0))
            case WriteLease(lease=lease, within_s=within_s):
                self._ask(within_s, lambda: self._write(lease))
            case WakeAt(at_s):
                at_s -= self._offset_s
                self._world.at(at_s, lambda: self.hear(Tick(self.now_s)))
            case Led() | Lost():
                assert type(command) is not type(self.told[-1] if self.told else Lost(""))
                self.told.append(command)
            case Finished():
                self.is_finished = True

    def _write(self, lease: Lease) -> Event:
        written = self._world.write(lease)
        return LeaseWritten(written, 0.0) if written else LeaseUnknown(0.0)

    def _ask(self, within_s: float, serve: Callable[[], Event]) -> None:
        """Send a request that may get lost on its way there or back, or be late."""
        answered: list[bool] = []

        def answer(event: Event) -> None:
            if not answered:
                answered.append(True)
                self.hear(msgspec.structs.replace(event, now_s=self.now_s))

        def arrive() -> None:
            event = serve()
            if not world.is_lost():
                world.at(world.now_s + world.delay_s(), lambda: answer(event))

        world = self._world
        world.at(world.now_s + within_s, lambda: answer(LeaseUnknown(0.0)))
        if not world.is_lost():
            world.at(world.now_s + world.delay_s(), arrive)


WEATHER = st.builds(
    Weather,
    seed=st.integers(0, 1 << 32),
    lost_pct=st.sampled_from((0, 10, 50, 90)),
    delay_s_max=st.sampled_from((0.01, 1.0, 4.0, 30.0)),
    calm_s=st.sampled_from((0.0, 300.0)),
)
HAPPENINGS = st.lists(
    st.tuples(
        st.sampled_from((0.1, 3.0, 14.0, 40.0)),
        st.sampled_from(("stop", "kill", "delete", "show", "start")),
        st.integers(0, 9),
    ),
    max_size=12,
)


def happen(world: World, what: str, who: int) -> None:
    """Let something happen to one of the candidates, or to the lease."""
    candidate = world.candidates[who % len(world.candidates)]
    match what:
        case "stop":
            candidate.hear(Stopped(candidate.now_s))
        case "kill":
            candidate.is_running = False
        case "delete":
            # Somebody deletes the lease, but none that is held: that nothing can survive.
            world.lease = world.lease if any(e.is_leading for e in world.candidates) else None
        case "show":
            candidate.hear(LeaseSeen(world.lease, candidate.now_s))
        case _:
            world.candidates.append(Candidate(world, f"new-{len(world.candidates)}", 7.0))


@settings(max_examples=150)
@given(WEATHER, st.integers(1, 4), HAPPENINGS)
def test_one_leads_at_most_and_somebody_in_the_end(
    weather: Weather, count: int, happenings: list[tuple[float, str, int]]
) -> None:
    world = World(weather, count)

    for wait_s, what, who in happenings:
        world.run(world.now_s + wait_s)
        happen(world, what, who)
        world.check()
    world.candidates.append(Candidate(world, "last", 3.0))
    world.run(max(world.now_s, weather.calm_s) + HEALTHY_S)

    assert sum(each.is_leading for each in world.candidates) == 1


def test_a_leader_that_ends_is_followed_at_once() -> None:
    world = World(Weather(seed=1, lost_pct=0, delay_s_max=0.01, calm_s=0.0), 2)
    world.run(1.0)
    first = next(each for each in world.candidates if each.is_leading)
    second = next(each for each in world.candidates if each is not first)

    first.hear(Stopped(first.now_s))
    was_leading = first.is_leading
    world.run(4.0)

    assert not was_leading
    assert first.is_finished
    assert second.is_leading


def test_a_leader_that_dies_is_followed_when_its_lease_has_run_out() -> None:
    world = World(Weather(seed=1, lost_pct=0, delay_s_max=0.01, calm_s=0.0), 2)
    world.run(30.0)
    first = next(each for each in world.candidates if each.is_leading)
    second = next(each for each in world.candidates if each is not first)

    first.is_running = False
    world.run(42.0)
    is_too_early = second.is_leading
    world.run(30.0 + 15 + 2 * 2 + 1)

    assert not is_too_early
    assert second.is_leading
    assert second.told == [Led(1)]
