"""Numbers that members without ordinals claim and keep, in virtual time."""

import asyncio
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.edge.store import Denied
from springtide.model.replicas.knobs import SAFE, Allocation
from springtide.model.replicas.settings import ReplicaSettings
from tests.members import SETTINGS, Fleet, One, status_of, until
from tests.virtual import run

ALLOCATED: Final = replace(SETTINGS, knobs=replace(SAFE, allocation=Allocation.ALLOCATED))


async def started(*names: str, settings: ReplicaSettings = ALLOCATED) -> Fleet:
    """Return a fleet of members that came in this order."""
    found = Fleet(settings)
    for name in names:
        await found.add(None, name=name)
        await asyncio.sleep(1)
    return found


def number(one: One) -> int | None:
    """Return the number by which a member goes."""
    return one.controller.snapshot().index


def numbers(found: Fleet) -> dict[str, int | None]:
    """Return the numbers of all."""
    return {name: number(each) for name, each in found.members.items()}


def test_members_take_the_lowest_number_that_is_free_whatever_their_names() -> None:
    """Covers R-33."""

    async def work() -> None:
        found = await started("zoe", "max", "ann")

        assert numbers(found) == {"zoe": 1, "max": 2, "ann": 3}
        await found.close()

    run(work())


def test_numbers_stay_when_others_leave_and_the_next_one_fills_the_gap() -> None:
    """Covers R-33. B-17."""

    async def work() -> None:
        found = await started("zoe", "max", "ann")
        left = found.members.pop("zoe")
        await left.controller.close()
        await asyncio.sleep(5)
        assert numbers(found) == {"max": 2, "ann": 3}

        await found.add(None, name="bob")
        await asyncio.sleep(1)

        assert numbers(found) == {"max": 2, "ann": 3, "bob": 1}
        await found.close()

    run(work())


def test_the_number_of_a_member_that_was_killed_is_free_once_its_lease_ran_out() -> None:
    async def work() -> None:
        found = await started("zoe", "max")
        killed = found.members.pop("zoe")
        await killed.kill()
        await asyncio.sleep(1)
        await found.add(None, name="ann")
        await asyncio.sleep(1)
        assert numbers(found) == {"max": 2, "ann": 3}

        await asyncio.sleep(20)
        await found.add(None, name="bob")
        await asyncio.sleep(1)

        assert numbers(found) == {"max": 2, "ann": 3, "bob": 1}
        await found.close()

    run(work())


def test_one_that_was_cut_off_takes_another_number_if_its_own_was_taken_meanwhile() -> None:
    """F-8."""

    async def work() -> None:
        found = await started("zoe", "max")
        zoe = found.members["zoe"]
        zoe.store.is_cut = True
        await asyncio.sleep(30)
        assert number(zoe) == 1
        await found.add(None, name="ann")
        await asyncio.sleep(1)
        zoe.store.is_cut = False
        await asyncio.sleep(5)

        assert numbers(found) == {"zoe": 3, "max": 2, "ann": 1}
        await found.close()

    run(work())


def test_after_an_outage_all_have_the_numbers_that_they_had() -> None:
    """F-17."""

    async def work() -> None:
        found = await started("zoe", "max", "ann")
        first = found.members.pop("zoe")
        await first.controller.close()
        found.site.is_down = True
        await asyncio.sleep(120)
        found.site.is_down = False
        await asyncio.sleep(10)

        assert numbers(found) == {"max": 2, "ann": 3}
        assert found.site.numbers == {2: "max", 3: "ann"}
        await found.close()

    run(work())


def test_a_store_that_lost_everything_gives_all_their_numbers_again() -> None:
    """F-18."""

    async def work() -> None:
        found = await started("zoe", "max", "ann")
        found.site.wipe()
        await asyncio.sleep(30)

        assert numbers(found) == {"zoe": 1, "max": 2, "ann": 3}
        assert found.site.numbers == {1: "zoe", 2: "max", 3: "ann"}
        await found.close()

    run(work())


def test_others_see_the_number_that_a_member_claimed() -> None:
    async def work() -> None:
        found = await started("zoe", "max")

        seen = found.members["zoe"].controller.everybody()
        assert {each.name: each.index for each in seen} == {"zoe": 1, "max": 2}
        assert not any(each.has_ordinal for each in seen)
        await found.close()

    run(work())


def test_who_has_a_number_above_what_is_expected_leaves_and_no_other() -> None:
    """B-17: it is not the name that decides."""

    async def work() -> None:
        found = await started("zoe", "max", "ann")
        found.load.total = 150
        await until(found, 2)
        for each in found.members.values():
            each.holds_state = False
        await asyncio.sleep(300)

        assert {name: each.labels[0] for name, each in found.members.items()} == {
            "zoe": True,
            "max": True,
            "ann": False,
        }
        await found.close()

    run(work())


def test_nothing_shrinks_while_a_number_below_another_is_free() -> None:
    """Else the one above would leave, and fewer stay than are expected."""

    async def work() -> None:
        found = await started("zoe", "max", "ann")
        found.load.total = 230
        await asyncio.sleep(120)
        left = found.members.pop("zoe")
        left.holds_state = False
        await left.controller.stop()
        await asyncio.sleep(60)
        await left.controller.close()
        found.load.total = 150
        await asyncio.sleep(600)
        before = status_of(found)
        await found.add(None, name="bob")
        await until(found, 2)

        assert before is not None
        assert before.expect == 3
        assert numbers(found) == {"max": 2, "ann": 3, "bob": 1}
        await found.close()

    run(work())


def test_the_way_of_numbers_is_not_changed_by_a_reload() -> None:
    async def work() -> None:
        found = await started("zoe")

        with pytest.raises(ValueError, match="start anew"):
            await found.members["zoe"].controller.reload(SETTINGS)
        await found.close()

    run(work())


def test_a_member_whose_store_has_no_numbers_says_so_and_has_none() -> None:
    async def work() -> None:
        found = Fleet(ALLOCATED)
        one = One(found, None, name="zoe")

        async def refuses(index: int) -> bool:
            raise Denied(f"there is no number {index}")

        one.store.claim_index = refuses  # type: ignore[method-assign]
        await one.controller.start()
        await asyncio.sleep(60)

        assert number(one) is None
        assert one.controller.snapshot().tally.backend_errors["claim_index"] > 1
        await one.controller.close()

    run(work())
