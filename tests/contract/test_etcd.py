"""What is particular to the store in etcd, tried on a real one."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from springtide.edge.store import (
    ABSENT,
    Confirmed,
    Conflict,
    FenceReason,
    MembersRead,
    Offer,
    RecordsRead,
    StatusRead,
)
from springtide.edge.store.etcd.shapes import delete, get, put
from tests.contract.etcdsite import KEYS, PACE, SERVICES, followed, store_at
from tests.contract.stores import member, names, record, status
from tests.etcds import MISSING, program, running

pytestmark = pytest.mark.skipif(not program(), reason=MISSING)


def test_a_member_asks_little_while_nothing_happens(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd:
            # The shipped rhythm, six times as fast.
            pace = msgspec.structs.replace(PACE, member_ttl_s=15 / 6, confirm_s=20 / 6)
            store = store_at(etcd.url, pace=pace)
            async with followed(store) as heard:
                await store.join(member("chat-1"))
                await heard.hears(MembersRead, lambda read: names(read) == ["chat-1"])
                before = store.asked
                await asyncio.sleep(10.0)

                assert store.asked - before <= 60 * 0.3

    asyncio.run(scene())


# ---------------------------------------------------------------------------- lost data


def test_a_token_of_an_etcd_that_was_lost_fences_though_its_number_comes_again(
    tmp_path: Path,
) -> None:
    """F-18: revisions count from the beginning again."""

    async def scene() -> None:
        async with running(tmp_path) as etcd, store_at(etcd.url) as a, store_at(etcd.url) as b:
            old = await a.acquire("chat-0", ttl_ms=30_000)
            await etcd.wipe()
            new = await b.acquire("chat-1", ttl_ms=30_000)
            assert old is not None
            assert new == old
            with pytest.raises(Conflict) as caught:
                await a.put_status(Offer(token=old.token, revision=ABSENT, status=status(9)))
            with pytest.raises(Conflict):
                await a.renew(old.token)
            await a.release(old.token)

            assert caught.value.reason == FenceReason.DEPOSED
            await b.renew(new.token)
            await b.put_status(Offer(token=new.token, revision=ABSENT, status=status(2)))

    asyncio.run(scene())


# ---------------------------------------------------------------------------- keys


def test_a_status_keeps_the_form_of_times_that_older_members_gave_it(tmp_path: Path) -> None:
    older = b'{"expect_replicas": 2, "expect_scaling_timepoint": {"seconds": "3"}}'

    async def scene() -> None:
        async with running(tmp_path) as etcd, store_at(etcd.url) as store:
            await etcd.do(put(KEYS.status, older))
            there = await store.read_status()
            await store.put_status(
                Offer(token=ABSENT, revision=there.revision, status=status(4, 1))
            )
            (found,) = (await etcd.do(get(KEYS.status))).found[0].kvs

            document = msgspec.json.decode(found.value)
            assert document["expect_scaling_timepoint"] == {"seconds": 3, "nanos": 0}

    asyncio.run(scene())


def test_who_only_observes_decides_apart_from_those_who_act(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd, store_at(etcd.url) as acting:
            observing = store_at(etcd.url, is_observing=True)
            async with followed(observing) as heard:
                ours = await acting.acquire("chat-0", ttl_ms=5_000)
                theirs = await observing.acquire("chat-1", ttl_ms=5_000)
                assert ours is not None
                assert theirs is not None
                offer = Offer(token=theirs.token, revision=ABSENT, status=status(9))
                await observing.put_status(offer)
                await acting.put_record(3, record("chat-2"))
                await heard.settles(StatusRead, lambda read: read.status == status(9))
                await heard.settles(RecordsRead, lambda read: 3 in read.records)

                assert await acting.read_status() == StatusRead(status=None)

    asyncio.run(scene())


def test_a_member_that_can_no_longer_be_read_is_a_member_no_more(tmp_path: Path) -> None:
    """B-3."""
    older = b'{"id": "12", "name": "chat-12", "metadata": {"labels": {"hpa_scaling_ready": "1"}}}'

    async def scene() -> None:
        async with running(tmp_path) as etcd:
            await etcd.do(put(f"{SERVICES}by_name/bad-1", b"{"))
            async with followed(store_at(etcd.url)) as heard:
                await heard.hears(Confirmed)
                assert heard.all(MembersRead) == [MembersRead(())]
                await etcd.do(put(f"{SERVICES}by_name/chat-12-12", older))
                seen = await heard.settles(MembersRead, lambda read: bool(read.members))
                assert seen.members[0].is_ready
                await etcd.do(put(f"{SERVICES}by_name/chat-12-12", b"{"))
                await heard.settles(MembersRead, lambda read: not read.members)

    asyncio.run(scene())


def test_a_member_whose_key_somebody_deleted_is_written_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd:
            store = store_at(etcd.url)
            async with followed(store) as heard:
                await store.join(member("chat-1"))
                await heard.settles(MembersRead, lambda read: names(read) == ["chat-1"])
                await etcd.do(delete(f"{SERVICES}by_name/chat-1-1"))
                await heard.settles(MembersRead, lambda read: not read.members)

                await heard.settles(MembersRead, lambda read: names(read) == ["chat-1"])

    asyncio.run(scene())


def test_siblings_with_longer_names_are_others(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd:
            await etcd.do(put(f"{KEYS.base}-v7", b"{}"), put(f"{KEYS.base}-v7/.ready/1", b"{}"))
            async with followed(store_at(etcd.url)) as heard:
                await heard.hears(Confirmed)

                assert heard.all(StatusRead) == [StatusRead(status=None)]
                assert heard.all(RecordsRead) == [RecordsRead({})]

    asyncio.run(scene())
