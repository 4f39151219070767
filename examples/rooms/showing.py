"""Run the service on this machine: members as processes, users who talk, and a verdict at the end.

python -m examples.rooms --seconds 60 --members 6
python -m examples.rooms --seconds 60 --faults kill,pause,partition,clock,wipe --seed 7
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, Final, Never

import msgspec

from examples.rooms.calling import HttpPeers
from examples.rooms.checking import Checker
from examples.rooms.crew import Crew
from examples.rooms.places import in_etcd, in_memory
from examples.rooms.scaler import Scaler
from examples.rooms.settings import PEOPLE_EACH, down_window_s
from examples.rooms.state import State
from examples.rooms.timeline import headline, line, verdict
from examples.rooms.users import Users
from examples.rooms.weather import Weather
from springtide.edge.machine import MachineClock

MEMBERS_FIRST: Final = 3
READY_S_MAX: Final = 60.0
CALM_S_MAX: Final = 120.0
LINE_S: Final = 1.0
POLL_S: Final = 0.2
DOORS_FIRST: Final = 2
WAVES: Final = 4
"""So often do people come and go in one run."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run."""

    seconds: float = 60.0
    members: int = 6
    rooms: int = 24
    users: int = 8
    seed: int = 1
    faults: tuple[str, ...] = ()
    pace: float = 0.1
    folder: str = ""
    etcd: str = ""
    """The program of an etcd to meet in; a site in memory, if empty."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How it went."""

    checker: Checker
    is_settled: bool
    moved: int
    is_in_peace: bool
    most: int
    least: int

    @property
    def is_well(self) -> bool:
        """Return whether nothing was lost, doubled or left unanswered that should not have been."""
        is_answered = not self.is_in_peace or self.checker.tally.failed == 0
        return not self.checker.wrongs and self.is_settled and is_answered


async def show(plan: Plan, say: Callable[[str], None]) -> Outcome:
    """Run it, and say what happens."""
    with tempfile.TemporaryDirectory(prefix="rooms-") as made:
        folder = Path(plan.folder or made)
        async with _crew(plan, folder) as (crew, users):
            outcome = await _days(plan, crew, users, say)
    for words in verdict(outcome.checker, moved=outcome.moved, is_settled=outcome.is_settled):
        say(words)
    return outcome


@asynccontextmanager
async def _crew(plan: Plan, folder: Path) -> AsyncIterator[tuple[Crew, Users]]:
    clock = MachineClock()
    meeting = in_etcd(plan.etcd, folder) if plan.etcd else in_memory(clock)
    async with meeting as place, HttpPeers() as peers:
        crew = Crew(folder, place, pace=plan.pace, members_max=plan.members)
        first = min(MEMBERS_FIRST, plan.members)
        crew.scaler = Scaler(crew, clock, replicas=first, down_window_s=down_window_s(plan.pace))
        rng = Random(plan.seed)  # noqa: S311 - it is to be repeated
        users = Users(peers, crew.doors, clock=clock, rng=rng, think_s=0.3)
        crew.users = users
        try:
            yield crew, users
        finally:
            await crew.close()


async def _days(plan: Plan, crew: Crew, users: Users, say: Callable[[str], None]) -> Outcome:
    assert crew.scaler is not None
    seen: list[int] = []
    begun_s = MachineClock().monotonic_s()

    def tell(words: str) -> None:
        say(f"{MachineClock().monotonic_s() - begun_s:6.1f} s  {words}")

    async with asyncio.TaskGroup() as group:
        going: list[asyncio.Task[Any]] = [
            group.create_task(crew.watch()),
            group.create_task(crew.scaler.run()),
        ]
        await _until(lambda: len(crew.doors()) >= DOORS_FIRST, timeout_s=READY_S_MAX)
        await users.open(plan.rooms, people=crew.scaler.replicas * PEOPLE_EACH * 9 // 10)
        for index, process in sorted(crew.processes.items()):
            say(f"Member {index} listens on http://{process.address}.")
        say(headline(plan.members))
        going.append(group.create_task(_timeline(crew, users.checker, tell, seen)))
        talking = [group.create_task(users.talk()) for _ in range(plan.users)]
        await _weather(plan, crew, tell)
        is_settled = await _until(lambda: _is_settled(crew.states, crew), timeout_s=CALM_S_MAX)
        for task in talking:
            task.cancel()
        await users.all_there()
        for task in going:
            task.cancel()
    return Outcome(
        checker=users.checker,
        is_settled=is_settled,
        moved=sum(each.moved for each in crew.states),
        is_in_peace=not plan.faults,
        most=max(seen, default=0),
        least=min(seen, default=0),
    )


async def _weather(plan: Plan, crew: Crew, tell: Callable[[str], None]) -> None:
    """Let people come and go, and things break, for as long as the plan says."""
    async with asyncio.TaskGroup() as group:
        waves = group.create_task(_waves(plan, crew, tell))
        rng = Random(plan.seed + 1)  # noqa: S311 - it is to be repeated
        weather = Weather(crew, rng, faults=plan.faults, pace=max(plan.pace, 0.2), tell=tell)
        broken = group.create_task(weather.run()) if plan.faults else None
        await asyncio.sleep(plan.seconds)
        waves.cancel()
        if broken is not None:
            broken.cancel()
    await weather.calm()


async def _waves(plan: Plan, crew: Crew, tell: Callable[[str], None]) -> None:
    sizes = (plan.members, max(2, plan.members // 3)) * (WAVES // 2)
    for members in sizes:
        people = members * PEOPLE_EACH * 95 // 100
        tell(f"{people} people now, which takes {members} members.")
        crew.crowd(people)
        await asyncio.sleep(plan.seconds / WAVES)


async def _timeline(
    crew: Crew, checker: Checker, tell: Callable[[str], None], seen: list[int]
) -> Never:
    while True:
        seen.append(len(crew.processes))
        tell(line(crew.states, checker))
        await asyncio.sleep(LINE_S)


async def _until(is_so: Callable[[], bool], *, timeout_s: float) -> bool:
    """Look now and then whether it is so, and return whether it came to that in time."""
    for _ in range(int(timeout_s / POLL_S)):
        if is_so():
            return True
        await asyncio.sleep(POLL_S)
    return False


def _is_settled(states: list[State], crew: Crew) -> bool:
    assert crew.scaler is not None
    assert crew.users is not None
    if not states or len(states) != crew.scaler.replicas:
        return False
    expects = {(each.generation, each.expect, each.current) for each in states}
    rooms = [room for each in states for room in each.rooms]
    is_one = len(expects) == 1 and all(
        each.expect == each.current == len(states) for each in states
    )
    return is_one and len(rooms) == len(set(rooms)) == len(crew.users.checker.rooms)
