"""Wishes from the store in which members meet, in memory and in virtual time."""

import asyncio
from typing import Final

from springtide.apps.executor.store import StoreWishes
from springtide.edge.store import MemoryStore
from tests.members import Fleet, LoopCalendar, fleet, seconds_until, status_of
from tests.virtual import LoopClock, run


def wishes_of(found: Fleet) -> tuple[StoreWishes, MemoryStore]:
    """Return the wishes, and their own way to the store."""
    store = MemoryStore(found.site)
    wishes = StoreWishes(
        store, "chat", clock=LoopClock(), calendar=LoopCalendar(), age_s_max=AGE_S_MAX
    )
    return wishes, store


AGE_S_MAX: Final = 60.0


def test_what_is_wanted_is_the_status_and_who_must_serve_the_records() -> None:
    async def work() -> None:
        async with fleet(3, load=250) as found:
            wishes, _ = wishes_of(found)
            following = asyncio.create_task(wishes.follow())
            before = await wishes.wish()
            await seconds_until(lambda: status_of(found) is not None)
            await asyncio.sleep(60)
            wish = await wishes.wish()
            following.cancel()

            assert (before.expect, before.floor) == (None, None)
            assert before.why == "the store has told nothing yet"
            assert (wish.expect, wish.floor) == (3, 3)
            assert wish.generation
            assert wish.ready == frozenset({1, 2, 3})

    run(work())


def test_a_killed_member_still_must_not_be_replaced_by_fewer() -> None:
    """Covers R-58 in part: the record outlives it."""

    async def work() -> None:
        async with fleet(3, load=250) as found:
            wishes, _ = wishes_of(found)
            following = asyncio.create_task(wishes.follow())
            await asyncio.sleep(80)
            await found.members.pop("chat-2").kill()
            await asyncio.sleep(40)
            wish = await wishes.wish()
            following.cancel()

            assert wish.floor == 3

    run(work())


def test_what_the_store_has_not_confirmed_is_unknown() -> None:
    async def work() -> None:
        async with fleet(2, load=150) as found:
            wishes, store = wishes_of(found)
            following = asyncio.create_task(wishes.follow())
            await asyncio.sleep(80)
            store.is_cut = True
            await asyncio.sleep(AGE_S_MAX / 2)
            soon = await wishes.wish()
            await asyncio.sleep(AGE_S_MAX)
            late = await wishes.wish()
            following.cancel()

            assert soon.expect == 2
            assert (late.expect, late.floor) == (None, None)
            assert late.why.startswith("the store is away")

    run(work())


def test_a_damaged_status_keeps_the_last_good_one() -> None:
    async def work() -> None:
        async with fleet(2, load=150) as found:
            wishes, _ = wishes_of(found)
            following = asyncio.create_task(wishes.follow())
            await asyncio.sleep(80)
            found.site.damage("it is no JSON.")
            await asyncio.sleep(1)
            wish = await wishes.wish()
            following.cancel()

            assert wish.expect == 2

    run(work())
