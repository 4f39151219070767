"""The lock of a store, held to each implementation."""

import asyncio

import pytest

from springtide.edge.store import (
    ABSENT,
    Conflict,
    FenceReason,
    LockRead,
)
from tests.contract.stores import FREE, Play, Site, following, held


def test_the_lock_is_taken_once_and_its_holder_is_told(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, b) as heard:
            taken = [
                await each.acquire(name, ttl_ms=site.traits.lock_ttl_ms)
                for each, name in ((a, "chat-0"), (b, "chat-1"))
            ]
            lock = await heard.settles(LockRead, lambda read: read.token != ABSENT)

            assert taken[0] is not None
            assert taken[1] is None
            assert lock == LockRead(taken[0].token, "chat-0")

    play(scene)


def test_of_many_that_try_at_once_one_gets_the_lock(play: Play) -> None:
    async def scene(site: Site) -> None:
        stores = [await site.store(f"chat-{index}") for index in range(5)]
        taken = await asyncio.gather(
            *(
                each.acquire(f"chat-{index}", ttl_ms=site.traits.lock_ttl_ms)
                for index, each in enumerate(stores)
            )
        )

        assert len([each for each in taken if each is not None]) == 1

    play(scene)


def test_a_lock_that_is_renewed_outlives_its_time(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        lock = await held(site, a)
        ttl_s = site.traits.lock_ttl_ms / 1000
        for _ in range(6):
            await asyncio.sleep(ttl_s / 3)
            await a.renew(lock.token)

        assert await b.acquire("chat-1", ttl_ms=site.traits.lock_ttl_ms) is None

    play(scene)


def test_a_lock_that_is_not_renewed_runs_out_and_its_old_holder_is_told_so(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, b) as heard:
            first = await held(site, a)
            await heard.settles(LockRead, lambda read: read.token == first.token)
            second = await held(site, b, "chat-1")
            await heard.settles(LockRead, lambda read: read.token == second.token)

            with pytest.raises(Conflict):
                await a.renew(first.token)
            assert second.token > first.token

    play(scene)


def test_a_lock_that_ran_out_cannot_be_renewed_though_nobody_took_it(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, b) as heard:
            lock = await held(site, a)
            await heard.settles(LockRead, lambda read: read.token == lock.token)
            await asyncio.sleep(3 * site.traits.lock_ttl_ms / 1000)

            with pytest.raises(Conflict) as caught:
                await a.renew(lock.token)
            assert caught.value.reason == FenceReason.DEPOSED

    play(scene)


def test_a_lock_that_is_given_back_is_free_and_later_tokens_are_larger(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, b) as heard:
            first = await held(site, a)
            await heard.settles(LockRead, lambda read: read.token == first.token)
            await a.release(first.token)
            await heard.settles(LockRead, lambda read: read == FREE)
            second = await b.acquire("chat-1", ttl_ms=site.traits.lock_ttl_ms)
            await a.release(first.token)

            assert second is not None
            assert second.token > first.token
            await b.renew(second.token)

    play(scene)
