"""The status and the records of a store, held to each implementation."""

import asyncio

import pytest

from springtide.edge.store import (
    ABSENT,
    Conflict,
    FenceReason,
    Offer,
    RecordsRead,
    StatusDamaged,
    StatusRead,
)
from tests.contract.stores import Play, Site, following, held, record, status, written


def test_a_status_is_written_by_the_holder_and_told_to_all_with_its_revision(play: Play) -> None:
    """Covers R-51. What is returned is the revision under which it is stored."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, b) as heard:
            lock = await held(site, a)
            wanted = status(
                3, controller_id=7, controller_name="chat-0", reason="Load", written_ms=4_500
            )
            revision = await a.put_status(Offer(token=lock.token, revision=ABSENT, status=wanted))
            told = await heard.settles(StatusRead, lambda read: read.status is not None)

            assert told == StatusRead(status=wanted, revision=revision)
            assert await b.read_status() == told

    play(scene)


def test_of_two_that_saw_the_same_status_one_writes(play: Play) -> None:
    """Covers R-55 in part. B-2."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        lock = await held(site, a)
        seen = await written(a, lock.token, status(3))
        offers = [
            Offer(token=lock.token, revision=seen, status=status(4 + each, 2)) for each in (0, 1)
        ]
        results = await asyncio.gather(
            a.put_status(offers[0]), b.put_status(offers[1]), return_exceptions=True
        )

        conflicts = [each for each in results if isinstance(each, Conflict)]
        assert [each.reason for each in conflicts] == [FenceReason.CHANGED]
        assert len([each for each in results if isinstance(each, int)]) == 1

    play(scene)


def test_a_deposed_holder_overwrites_nothing(play: Play) -> None:
    """F-6."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        first = await held(site, a)
        seen = await written(a, first.token, status(3))
        await a.release(first.token)
        await held(site, b, "chat-1")

        with pytest.raises(Conflict) as caught:
            await a.put_status(Offer(token=first.token, revision=seen, status=status(9, 2)))
        assert caught.value.reason == FenceReason.DEPOSED
        assert await b.read_status() == StatusRead(status=status(3), revision=seen)

    play(scene)


def test_another_number_needs_another_generation(play: Play) -> None:
    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        lock = await held(site, store)
        await written(store, lock.token, status(3, 5))
        settled = await written(store, lock.token, status(3, 5, current=3))

        with pytest.raises(Conflict) as caught:
            await written(store, lock.token, status(4, 5))
        assert caught.value.reason == FenceReason.GENERATION_NOT_GROWN
        assert (await store.read_status()).revision == settled

    play(scene)


def test_without_a_lock_a_status_is_written_while_nobody_holds_one(play: Play) -> None:
    """Members that elect their leader by order alone have no lock."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        await written(a, ABSENT, status(3))
        await held(site, b, "chat-1")

        with pytest.raises(Conflict) as caught:
            await written(a, ABSENT, status(4, 2))
        assert caught.value.reason == FenceReason.DEPOSED

    play(scene)


@pytest.mark.parametrize("text", [b"{", b'{"schema": 99}', b'{"expect_replicas": "many"}', b""])
def test_a_status_that_cannot_be_read_is_told_and_can_be_written_over(
    play: Play, text: bytes
) -> None:
    """F-25."""

    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        async with following(site, store) as heard:
            lock = await held(site, store)
            await written(store, lock.token, status(3))
            await site.damage(text)
            told = await heard.hears(StatusDamaged)
            mark = heard.mark

            assert told.why
            assert await store.read_status() == told
            revision = await written(store, lock.token, status(3))
            await heard.hears(StatusRead, lambda read: read.revision == revision, since=mark)

    play(scene)


def test_a_status_of_older_members_is_read(play: Play) -> None:
    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        async with following(site, store) as heard:
            await site.damage(
                b'{"current_replicas":2,"expect_replicas":3,"expect_scaling_timepoint":'
                b'"1970-01-01T00:00:03Z","controller_node_id":"12"}'
            )
            told = await heard.settles(StatusRead, lambda read: read.status is not None)

            assert told.status is not None
            assert (told.status.expect, told.status.scaling_ms) == (3, 3_000)

    play(scene)


def test_a_status_that_is_deleted_is_told_as_absent_and_can_be_written_again(play: Play) -> None:
    """B-19."""

    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        async with following(site, store) as heard:
            lock = await held(site, store)
            await written(store, lock.token, status(3))
            await heard.settles(StatusRead, lambda read: read.status is not None)
            await site.erase()
            await heard.settles(StatusRead, lambda read: read == StatusRead(status=None))

            await store.put_status(Offer(token=lock.token, revision=ABSENT, status=status(3, 2)))
            await heard.settles(StatusRead, lambda read: read.status == status(3, 2))

    play(scene)


def test_a_record_is_told_and_deleted_by_its_run_alone(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, b) as heard:
            for index in (3, 12):
                await a.put_record(index, record("chat-0"))
            await heard.settles(RecordsRead, lambda read: set(read.records) == {3, 12})
            await b.delete_record(3, "another run")
            await b.delete_record(4, "another run")
            await a.delete_record(12, "chat-0/1")
            told = await heard.settles(RecordsRead, lambda read: 12 not in read.records)

            assert told.records == {3: record("chat-0")}

    play(scene)
