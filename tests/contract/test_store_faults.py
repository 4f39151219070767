"""What a store promises when servers stop, lines are cut and disks are lost, held to each implementation."""

import asyncio

import pytest

from springtide.edge.store import (
    ABSENT,
    Away,
    Confirmed,
    Conflict,
    LockRead,
    MembersRead,
    Offer,
    RecordsRead,
    StatusRead,
    Unreachable,
)
from tests.contract.stores import (
    FREE,
    LABELS,
    Play,
    Site,
    eventually,
    following,
    held,
    member,
    names,
    record,
    status,
    written,
)


def test_a_server_that_stops_is_away_and_all_is_told_again_when_it_is_back(play: Play) -> None:
    """F-17."""

    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        async with following(site, store) as heard:
            await store.join(member("chat-0", labels=LABELS))
            lock = await held(site, store)
            revision = await written(store, lock.token, status(3))
            await store.put_record(1, record("chat-0"))
            await heard.settles(RecordsRead, lambda read: bool(read.records))
            await site.stop()
            away = await heard.hears(Away)
            mark = heard.mark
            with pytest.raises(Unreachable):
                await store.put_record(2, record("chat-0"))
            await site.start()
            await heard.hears(Confirmed, since=mark)

            kept = StatusRead(status=status(3), revision=revision)
            assert away.why
            assert heard.all(StatusRead, since=mark) == [kept]
            assert heard.all(RecordsRead, since=mark)[0].records == {1: record("chat-0")}
            assert heard.all(LockRead, since=mark)
            await heard.settles(MembersRead, lambda read: names(read) == ["chat-0"])

    play(scene)


def test_a_member_that_joins_while_the_server_is_away_is_there_when_it_is_back(
    play: Play,
) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b) as other:
            await other.hears(Confirmed)
            await b.join(member("chat-1", is_ready=True))
            await site.stop()
            await other.hears(Away)
            with pytest.raises(Unreachable):
                await b.join(member("chat-1", is_ready=False, labels=LABELS))
            await site.start()

            await heard.settles(
                MembersRead,
                lambda read: [e.labels for e in read.members if e.id == 1] == [LABELS],
            )

    play(scene)


def test_one_that_is_cut_off_is_away_alone(play: Play) -> None:
    """F-8."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b) as other:
            await heard.hears(Confirmed)
            await other.hears(Confirmed)
            await site.cut("chat-1")
            await other.hears(Away)

            with pytest.raises(Unreachable):
                await b.read_status()
            assert await a.read_status() == StatusRead(status=None)
            assert heard.all(Away) == []

    play(scene)


def test_one_that_was_cut_off_loses_member_and_lock_and_is_registered_again(play: Play) -> None:
    """Covers R-29. F-8."""

    async def scene(site: Site) -> None:
        if not site.traits.has_leases:
            pytest.skip("members do not live by leases here")
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b) as other:
            await b.join(member("chat-1", labels=LABELS))
            lock = await held(site, b, "chat-1")
            await heard.settles(MembersRead, lambda read: "chat-1" in names(read))
            await heard.settles(LockRead, lambda read: read.token == lock.token)
            await site.cut("chat-1")
            await heard.settles(MembersRead, lambda read: "chat-1" not in names(read))
            await heard.settles(LockRead, lambda read: read == FREE)
            mark = other.mark
            await site.heal("chat-1")
            seen = await heard.settles(MembersRead, lambda read: "chat-1" in names(read))

            assert seen.members[-1].labels == LABELS
            await other.hears(Confirmed, since=mark)
            with pytest.raises(Conflict):
                await b.renew(lock.token)

    play(scene)


def test_who_missed_what_was_forgotten_meanwhile_reads_all_anew(play: Play) -> None:
    """Covers R-52. F-19: what is not there any more is told, too."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b):
            await b.join(member("chat-1", is_ready=True))
            lock = await held(site, b)
            await written(b, lock.token, status(3))
            for index in (1, 2):
                await b.put_record(index, record("chat-1"))
            await heard.settles(RecordsRead, lambda read: set(read.records) == {1, 2})
            await heard.settles(MembersRead, lambda read: any(e.is_ready for e in read.members))
            await site.cut("chat-0")
            await heard.hears(Away)
            mark = heard.mark
            await b.delete_record(1, "chat-1/1")
            await b.leave()
            await b.release(lock.token)
            for generation in range(2, 6):
                await site.erase()
                await written(b, ABSENT, status(generation, generation))
            await site.compact()
            await site.heal("chat-0")
            await heard.hears(Confirmed, since=mark)

            assert [each.status for each in heard.all(StatusRead, since=mark)] == [status(5, 5)]
            assert set(heard.all(RecordsRead)[-1].records) == {2}
            assert not any(each.is_ready for each in heard.all(MembersRead)[-1].members)
            assert heard.all(LockRead)[-1] == FREE

    play(scene)


def test_a_store_that_lost_everything_tells_so_and_members_are_registered_again(
    play: Play,
) -> None:
    """Covers R-29. F-18."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard, following(site, b):
            await b.join(member("chat-1", labels=LABELS))
            lock = await held(site, b)
            await written(b, lock.token, status(3))
            await b.put_record(2, record("chat-1"))
            await heard.settles(StatusRead, lambda read: read.status is not None)
            await heard.settles(RecordsRead, lambda read: 2 in read.records)
            mark = heard.mark
            await site.wipe()
            first = await heard.hears(StatusRead, since=mark)
            await heard.settles(RecordsRead, lambda read: not read.records)
            await heard.hears(Confirmed, since=mark)

            assert first == StatusRead(status=None)
            with pytest.raises(Conflict):
                await b.renew(lock.token)
            async with following(site, await site.store("chat-2")) as new:
                await new.settles(
                    MembersRead, lambda read: any(each.labels == LABELS for each in read.members)
                )
                assert new.all(StatusRead) == [StatusRead(status=None)]
            # Here a revision is smaller than one that was seen; nothing is held back for that.
            again = await held(site, b)
            await written(b, again.token, status(4, 9))
            await heard.settles(StatusRead, lambda read: read.status == status(4, 9))

    play(scene)


def test_a_lost_answer_is_not_taken_for_a_refusal(play: Play) -> None:
    """Whoever is cut off learns that it is, and never that somebody else was faster."""

    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        lock = await held(site, store)
        await site.cut("chat-0")

        for work in (
            store.put_status(Offer(token=lock.token, revision=ABSENT, status=status(3))),
            store.renew(lock.token),
            store.acquire("chat-0", ttl_ms=site.traits.lock_ttl_ms),
            store.delete_record(1, "x"),
        ):
            with pytest.raises(Unreachable):
                await work

    play(scene)


def test_what_is_asked_twice_at_once_is_done(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, b) as heard, following(site, a):
            await asyncio.gather(
                *(a.join(member("chat-0", labels={"n": str(each)})) for each in range(5)),
                *(a.put_record(each, record("chat-0")) for each in range(1, 6)),
            )
            await heard.settles(RecordsRead, lambda read: len(read.records) == 5)

            async def is_last() -> bool:
                told = heard.all(MembersRead)[-1].members
                return [each.labels for each in told if not each.id] == [{"n": "4"}]

            await eventually(is_last, patience_s=site.traits.patience_s)

    play(scene)
