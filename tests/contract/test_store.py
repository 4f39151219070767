"""What a store tells of its members, its status and its records, held to each implementation."""

import asyncio

from springtide.edge.store import Confirmed, LockRead, MembersRead, RecordsRead, StatusRead
from tests.contract.stores import (
    FREE,
    LABELS,
    Play,
    Site,
    following,
    held,
    member,
    names,
    record,
    repeats,
    status,
    written,
)

AT_ONCE_S = 1.0


def test_who_follows_is_told_all_that_there_is_and_that_it_is_so(play: Play) -> None:
    async def scene(site: Site) -> None:
        async with following(site, await site.store("chat-0")) as heard:
            await heard.hears(Confirmed)

            assert heard.all(StatusRead) == [StatusRead(status=None)]
            assert heard.all(RecordsRead) == [RecordsRead({})]
            assert heard.all(LockRead) == [FREE]
            assert heard.all(MembersRead)
            assert isinstance(heard.told[0], StatusRead)

    play(scene)


def test_what_was_told_is_confirmed_again_without_being_told_again(play: Play) -> None:
    async def scene(site: Site) -> None:
        async with following(site, await site.store("chat-0")) as heard:
            await heard.hears(Confirmed)
            mark = heard.mark
            await asyncio.sleep(2.5 * site.traits.confirm_s)

            assert {type(each) for each in heard.told[mark:]} == {Confirmed}
            assert len(heard.told[mark:]) >= 2

    play(scene)


def test_nothing_is_told_twice(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b):
            await b.join(member("chat-1"))
            lock = await held(site, b)
            for generation in range(1, 5):
                await written(b, lock.token, status(generation, generation))
            await b.put_record(2, record("chat-1"))
            await b.join(member("chat-1", labels=LABELS))
            await heard.settles(RecordsRead, lambda read: 2 in read.records)
            await heard.settles(
                MembersRead, lambda read: any(each.labels == LABELS for each in read.members)
            )
            await heard.settles(StatusRead, lambda read: read.status == status(4, 4))

            revisions = [each.revision for each in heard.all(StatusRead)]
            assert repeats(heard) == []
            assert revisions == sorted(revisions)

    play(scene)


def test_a_follower_that_is_cancelled_ends_at_once_and_tells_nothing_more(play: Play) -> None:
    async def scene(site: Site) -> None:
        store, other = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, store) as heard:
            await heard.hears(Confirmed)
            began_s = asyncio.get_running_loop().time()
        took_s = asyncio.get_running_loop().time() - began_s
        mark = heard.mark
        await other.put_record(1, record("chat-1"))
        await asyncio.sleep(AT_ONCE_S)

        assert took_s < AT_ONCE_S
        assert heard.mark == mark

    play(scene)


def test_a_member_is_seen_by_others_with_its_labels(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b):
            await a.join(member("chat-0"))
            await b.join(member("chat-1", labels=LABELS, is_target=True))
            seen = await heard.settles(
                MembersRead, lambda read: names(read) == ["chat-0", "chat-1"]
            )

            assert seen.members[1].labels == LABELS
            assert seen.members[1].is_target
            assert not seen.members[1].is_ready
            assert seen.members[1].is_alive
            assert seen.members[1].target == "chat"

    play(scene)


def test_all_that_a_member_says_of_itself_is_seen(play: Play) -> None:
    async def scene(site: Site) -> None:
        said = member(
            "chat-3",
            has_ordinal=True,
            index=4,
            started_ms=1_700_000_000_000,
            service="chat",
            address="10.0.0.3:8080",
            is_target=True,
            is_ready=True,
        )
        a, b = await site.store("chat-0"), await site.store("chat-3")
        async with following(site, a) as heard, following(site, b):
            await b.join(said)
            seen = await heard.settles(MembersRead, lambda read: "chat-3" in names(read))

            (there,) = [each for each in seen.members if each.name == "chat-3"]
            for fact in ("id", "index", "boot", "address", "is_target", "is_ready", "has_ordinal"):
                assert getattr(there, fact) == getattr(said, fact), fact

    play(scene)


def test_labels_that_change_are_seen_and_those_that_do_not_are_not_written_again(
    play: Play,
) -> None:
    """Covers R-29."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b):
            await b.join(member("chat-1"))
            await heard.settles(MembersRead, lambda read: "chat-1" in names(read))
            before = await site.writes()
            await b.join(member("chat-1"))
            between = await site.writes()
            await b.join(member("chat-1", is_ready=True))
            await heard.settles(
                MembersRead, lambda read: any(each.is_ready for each in read.members)
            )

            assert between == before
            assert await site.writes() > between

    play(scene)


def test_a_member_that_leaves_is_not_seen_any_more(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b):
            await b.join(member("chat-1", is_ready=True))
            await heard.settles(MembersRead, lambda read: any(e.is_ready for e in read.members))
            await b.leave()

            await heard.settles(MembersRead, lambda read: not any(e.is_ready for e in read.members))

    play(scene)


def test_a_run_of_a_member_that_leaves_late_does_not_take_the_next_one_along(play: Play) -> None:
    async def scene(site: Site) -> None:
        watcher = await site.store("chat-0")
        old, new = await site.store("chat-1"), await site.store("chat-1")
        async with following(site, watcher) as heard:
            async with following(site, old):
                await old.join(member("chat-1", boot="first"))
                await heard.settles(MembersRead, lambda read: "chat-1" in names(read))
            async with following(site, new):
                await new.join(member("chat-1", boot="second"))
                await heard.settles(
                    MembersRead, lambda read: [e.boot for e in read.members if e.id] == ["second"]
                )
                await old.leave()
                await asyncio.sleep(2 * site.traits.member_ttl_s)

                (there,) = [e for e in heard.all(MembersRead)[-1].members if e.id]
                assert there.boot == "second"

    play(scene)


def test_a_member_that_dies_is_gone_while_its_record_stays(play: Play) -> None:
    """F-14: no lease takes the record along."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard:
            async with following(site, b):
                await b.join(member("chat-1", is_ready=True))
                await b.put_record(2, record("chat-1"))
                await heard.settles(MembersRead, lambda read: "chat-1" in names(read))
                await heard.settles(RecordsRead, lambda read: 2 in read.records)
            await site.kill("chat-1")
            await heard.settles(MembersRead, lambda read: "chat-1" not in names(read))

            assert heard.all(RecordsRead)[-1].records == {2: record("chat-1")}

    play(scene)


def test_a_member_lives_as_long_as_it_follows(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b):
            await b.join(member("chat-1"))
            await heard.settles(MembersRead, lambda read: "chat-1" in names(read))
            mark = heard.mark
            await asyncio.sleep(2.5 * site.traits.member_ttl_s)

            assert heard.all(MembersRead, since=mark) == []

    play(scene)
