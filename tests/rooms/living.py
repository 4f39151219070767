"""One seeded life of a town: users talk while things break, then it is calm, and everything must be well."""

import asyncio
from random import Random
from typing import Any, Final

import msgspec

from examples.rooms.checking import Tally
from examples.rooms.settings import PEOPLE_EACH, name_of
from examples.rooms.weather import FAULTS, Weather
from springtide.replicas.ownership import owner_of
from tests.rooms.freezing import freezing_loop, run_freezing
from tests.rooms.invariants import Broken
from tests.rooms.town import Shape, Town

OPENING_S: Final = 30.0
CALM_S_MAX: Final = 900.0
"""So long after the weather may it take until all is where it belongs."""
CALM_LOOK_S: Final = 15.0
LOOK_S: Final = 1.0
TARGET_S_MAX: Final = 30.0
"""After so long a first member must have made the Target its own, whatever its clock says."""


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """How a life went; nothing is wrong if `wrongs` is empty."""

    seed: int
    wrongs: tuple[str, ...]
    story: tuple[str, ...]
    tally: Tally
    moves: int
    generation: int
    boots: int


def live(seed: int, shape: Shape | None = None, *, faults: tuple[str, ...] = FAULTS) -> Life:
    """Live the life of a seed, in virtual time."""
    return run_freezing(_live(seed, shape or Shape(), faults))


async def _live(seed: int, shape: Shape, faults: tuple[str, ...]) -> Life:
    town = Town(seed, members=shape.members)
    weather = Weather(town, Random(seed + 3), faults=faults)
    wrongs: list[str] = []
    freezing_loop().set_exception_handler(lambda _, context: wrongs.append(_bug(context)))
    try:
        await _days(town, weather, shape)
    except* Broken as broken:
        wrongs.extend(str(each) for each in _leaves(broken))
    finally:
        for index in list(town.runs):
            await town.kill(index)
    wrongs.extend((*town.wrongs.told, *town.users.checker.wrongs))
    return Life(
        seed=seed,
        wrongs=tuple(wrongs),
        story=tuple(weather.story),
        tally=town.users.checker.tally,
        moves=town.witness.moves,
        generation=town.site.generation,
        boots=town.boots,
    )


async def _days(town: Town, weather: Weather, shape: Shape) -> None:
    async with asyncio.TaskGroup() as group:
        going = [group.create_task(town.scaler.run()), group.create_task(_watch(town))]
        await asyncio.sleep(OPENING_S)
        await town.users.open(shape.rooms, people=shape.members * PEOPLE_EACH * 9 // 10)
        going += [group.create_task(town.users.talk()) for _ in range(shape.users)]
        broken = group.create_task(weather.run())
        await asyncio.sleep(shape.seconds)
        broken.cancel()
        await weather.calm()
        wrong = await _settled(town)
        for each in going[2:]:
            each.cancel()
        await town.users.all_there()
        for each in going:
            each.cancel()
        if wrong:
            raise Broken(wrong)


async def _watch(town: Town) -> None:
    """Look every second at what must hold all the time."""
    while True:
        await asyncio.sleep(LOOK_S)
        _look(town)


def _look(town: Town) -> None:
    runs = list(town.runs.values())
    if town.wrongs.told:
        raise Broken(town.wrongs.told.pop())
    for run in runs:
        finished = (each for each in run.member.tasks if each.done() and not each.cancelled())
        ended = next(finished, None)
        if ended is not None:
            raise Broken(f"{run.name}: {ended.get_name()} ended: {ended}")
    for room, owners in town.witness.owners.items():
        accepting = [r.name for r in runs if r.member.holding.book.accepts_writes(room)]
        if not owners.issuperset(accepting) or len(accepting) > 1:
            raise Broken(f"{room} is accepted by {accepting}, and owned by {owners}.")
    first = town.runs.get(1)
    if first is not None and first.has_lived(TARGET_S_MAX) and not first.is_frozen:
        snapshot = first.member.controller.snapshot()
        if not snapshot.is_stopping and not any(r.member.controller.is_target() for r in runs):
            raise Broken("The Target is empty.")
    town.site.highest_living = max((r.index for r in runs if r.has_lived(TARGET_S_MAX)), default=0)


async def _settled(town: Town) -> str:
    """Wait until all is well; return what is not if that takes too long."""
    wrong = ""
    for _ in range(int(CALM_S_MAX / CALM_LOOK_S)):
        await asyncio.sleep(CALM_LOOK_S)
        wrong = _unsettled(town)
        if not wrong:
            break
    return wrong


def _unsettled(town: Town) -> str:
    """Return what is not where it belongs: every room at its owner, and as many members as are wanted."""
    status = town.site.expects
    if status is None or status.current != status.expect:
        return "A round still runs, or there is no status."
    for room, owners in town.witness.owners.items():
        wanted = name_of(owner_of(room, status.expect))
        if owners != {wanted}:
            return f"{room} is at {owners or 'nobody'}, and belongs to {wanted}."
    if town.scaler.replicas != status.expect:
        return f"{town.scaler.replicas} live, and {status.expect} are wanted."
    return ""


def _bug(context: dict[str, Any]) -> str:
    return f"{context.get('message')}: {context.get('exception')!r}"


def _leaves(group: BaseExceptionGroup[Any]) -> list[BaseException]:
    found: list[BaseException] = []
    for each in group.exceptions:
        found.extend(_leaves(each) if isinstance(each, BaseExceptionGroup) else [each])
    return found
