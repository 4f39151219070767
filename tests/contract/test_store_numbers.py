"""Numbers that members claim in a store, held to each implementation that has leases."""

import asyncio
from collections.abc import Callable

import pytest

from springtide.edge.store import Denied, NumbersRead
from tests.contract.stores import Play, Site, following, member


def is_held(*holders: str) -> Callable[[NumbersRead], bool]:
    """Return whether numbers from one on are held by these."""
    return lambda read: read.holders == dict(enumerate(holders, start=1))


def _needs_leases(site: Site) -> None:
    if not site.traits.has_leases:
        pytest.skip("members do not live by leases here")


def test_where_members_have_no_leases_there_are_no_numbers_to_claim(play: Play) -> None:
    async def scene(site: Site) -> None:
        if site.traits.has_leases:
            pytest.skip("members live by leases here")
        store = await site.store("chat-0")

        with pytest.raises(Denied, match="etcd"):
            await store.claim_index(1)

    play(scene)


def test_a_number_has_one_holder_and_all_are_told_who(play: Play) -> None:
    """Covers R-33 in part."""

    async def scene(site: Site) -> None:
        _needs_leases(site)
        a, b = await site.store("chat-a-0"), await site.store("chat-b-1")
        async with following(site, a) as heard, following(site, b):
            await a.join(member("chat-a-0"))
            await b.join(member("chat-b-1"))
            answers = await asyncio.gather(a.claim_index(1), b.claim_index(1))
            first, other = (a, b) if answers[0] else (b, a)

            assert sorted(answers) == [False, True]
            assert await first.claim_index(1)
            assert await other.claim_index(2)
            await heard.settles(NumbersRead, lambda read: len(read.holders) == 2)

    play(scene)


def test_a_number_lives_as_long_as_its_member(play: Play) -> None:
    async def scene(site: Site) -> None:
        _needs_leases(site)
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard:
            async with following(site, b):
                await b.join(member("chat-1"))
                assert await b.claim_index(1)
                await heard.settles(NumbersRead, is_held("chat-1"))
                await asyncio.sleep(2.5 * site.traits.member_ttl_s)
                assert heard.all(NumbersRead)[-1].holders == {1: "chat-1"}
            await site.kill("chat-1")
            await heard.settles(NumbersRead, is_held())

            await a.join(member("chat-0"))
            assert await a.claim_index(1)

    play(scene)


def test_a_member_that_leaves_gives_its_number_back(play: Play) -> None:
    async def scene(site: Site) -> None:
        _needs_leases(site)
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b):
            await b.join(member("chat-1"))
            await b.claim_index(1)
            await heard.settles(NumbersRead, is_held("chat-1"))
            await b.leave()

            await heard.settles(NumbersRead, is_held())

    play(scene)


def test_the_next_run_of_a_member_takes_its_number_over(play: Play) -> None:
    async def scene(site: Site) -> None:
        _needs_leases(site)
        watcher = await site.store("chat-0")
        old, new = await site.store("chat-1"), await site.store("chat-1")
        async with following(site, watcher) as heard:
            async with following(site, old):
                await old.join(member("chat-1", boot="first"))
                await old.claim_index(1)
                await heard.settles(NumbersRead, is_held("chat-1"))
            async with following(site, new):
                await new.join(member("chat-1", boot="second"))

                assert await new.claim_index(1)
                await asyncio.sleep(2 * site.traits.member_ttl_s)
                assert heard.all(NumbersRead)[-1].holders == {1: "chat-1"}

    play(scene)


def test_one_that_was_cut_off_for_long_has_lost_its_number_and_is_told_so(play: Play) -> None:
    """F-8."""

    async def scene(site: Site) -> None:
        _needs_leases(site)
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b) as other:
            await a.join(member("chat-0"))
            await b.join(member("chat-1"))
            await b.claim_index(1)
            for each in (heard, other):
                await each.settles(NumbersRead, is_held("chat-1"))
            await site.cut("chat-1")
            await heard.settles(NumbersRead, is_held())
            assert await a.claim_index(1)
            mark = other.mark
            await site.heal("chat-1")
            await other.hears(NumbersRead, is_held("chat-0"), since=mark)

            assert not await b.claim_index(1)
            assert await b.claim_index(2)

    play(scene)
