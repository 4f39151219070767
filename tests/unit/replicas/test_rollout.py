"""The steps in which a fleet begins to scale, on whole members in virtual time: observe, follow, drain all."""

import asyncio
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.model.replicas.knobs import SAFE, Mode
from springtide.model.replicas.rules import Schedule
from springtide.model.replicas.settings import ReplicaSettings
from tests.members import SETTINGS, fleet, seconds_until, status_of, until
from tests.virtual import run

QUICK: Final = replace(
    SETTINGS, schedule=Schedule(start_delay_ms=2_000, period_ms=2_000, scaling_delay_ms=2_000)
)
OBSERVING: Final = replace(QUICK, knobs=replace(SAFE, mode=Mode.OBSERVE))
DRAINING: Final = replace(QUICK, knobs=replace(SAFE, mode=Mode.DRAIN_ALL))
BOTH: Final = (True, True)


def test_who_observes_decides_and_sends_nobody_away() -> None:
    """Covers R-42."""

    async def work() -> None:
        async with fleet(4, OBSERVING, load=350) as found:
            await seconds_until(lambda: all(x.labels == BOTH for x in found.members.values()))
            await seconds_until(lambda: status_of(found) is not None)
            found.load.total = 100
            for each in found.members.values():
                each.holds_state = False
            await until(found, 2)
            await asyncio.sleep(60)

            assert [each.labels for each in found.members.values()] == [BOTH] * 4

    run(work())


@pytest.mark.parametrize(("before", "after"), [(OBSERVING, QUICK), (QUICK, OBSERVING)])
def test_who_observes_starts_anew_to_follow(
    before: ReplicaSettings, after: ReplicaSettings
) -> None:
    """The two meet at different places, so a fleet that only reloads would be two."""

    async def work() -> None:
        async with fleet(1, before, load=50) as found:
            one = found.members["chat-0"]
            with pytest.raises(ValueError, match="start anew to change it"):
                await one.controller.reload(after)

    run(work())


def test_a_workload_that_is_drained_keeps_whoever_holds_state() -> None:
    """Every member leaves Target at once, and Ready with its state; at least one replica stays expected."""

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await seconds_until(lambda: all(x.labels == BOTH for x in found.members.values()))
            await seconds_until(lambda: status_of(found) is not None)
            for each in found.members.values():
                await each.controller.reload(DRAINING)
            await asyncio.sleep(30)
            moving = [each.labels for each in found.members.values()]
            for each in found.members.values():
                each.holds_state = False
            await asyncio.sleep(5)
            drained = [each.labels for each in found.members.values()]
            status = status_of(found)

            assert moving == [(False, True)] * 3
            assert drained == [(False, False)] * 3
            assert status is not None
            assert status.expect >= 1

    run(work())


def test_whoever_leaves_serves_until_its_state_has_moved() -> None:
    """Covers R-43 in part, R-18: seen by others, it is no Target, and still Ready."""

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await seconds_until(lambda: all(x.labels == BOTH for x in found.members.values()))
            await seconds_until(lambda: status_of(found) is not None)
            found.load.total = 100
            last, other = found.members["chat-2"], found.members["chat-0"]
            await seconds_until(lambda: last.labels == (False, True))
            await asyncio.sleep(120)
            ready = {each.name for each in other.controller.select("chat")}
            target = {each.name for each in other.controller.select("chat", "target")}

            assert ready - target == {"chat-2"}

    run(work())
