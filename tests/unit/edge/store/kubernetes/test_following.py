"""What is told of a cluster when watches break, reads fail, rights lack and objects are made anew."""

import asyncio

import pytest
from msgspec.structs import replace

from springtide.edge.store import (
    ABSENT,
    CONFIRM_S,
    Away,
    Confirmed,
    Denied,
    MembersRead,
    Offer,
    RecordsRead,
    StatusRead,
)
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.status import Status
from tests.kubestores import CONFIG_MAPS, NAMESPACE, STATUS, Place, followed, played

DECIDED = Status(current=3, expect=2, start_ms=1, end_ms=2, scaling_ms=3, generation=1)
RECORD = Record(member="chat-0", boot="b", at_ms=5)
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{STATUS}"
SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets"


async def decide(place: Place, status: Status = DECIDED) -> None:
    """Write a status as one who has no lock, while nobody has."""
    store = place.store("chat-9")
    there = await store.read_status()
    await store.put_status(Offer(token=ABSENT, revision=there.revision, status=status))


def test_watches_that_break_are_away_and_everything_is_told_once_again() -> None:
    """Covers R-52 in part, F-19 in part."""

    async def scene(place: Place) -> None:
        await decide(place)
        async with followed(place.store()) as told:
            before = told.mark
            place.api.order("cut")
            await asyncio.sleep(5)

            again = told.all[before:]
            assert isinstance(again[0], Away)
            assert isinstance(again[-1], Confirmed)
            assert len(told.of(Away)) == 1
            assert sorted(map(repr, again[1:-1])) == sorted(map(repr, told.all[: before - 1]))

    played(scene)


def test_what_was_missed_is_told_at_once_when_the_watches_are_back() -> None:
    """Covers R-52 in part. Nothing of what was in between."""

    async def scene(place: Place) -> None:
        await decide(place)
        store, other = place.store(), place.store("chat-1")
        async with followed(store) as told:
            place.api.order("cut")
            for generation in (2, 3, 4):
                await decide(place, replace(DECIDED, generation=generation))
            await other.put_record(1, RECORD)
            mark = told.mark
            await asyncio.sleep(5)

            assert [
                each.status.generation for each in told.of(StatusRead, since=mark) if each.status
            ] == [4]
            assert told.of(RecordsRead, since=mark) == [RecordsRead({1: RECORD})]

    played(scene)


def test_a_read_that_fails_is_away_although_the_watches_stand() -> None:
    """Covers F-17 in part."""

    async def scene(place: Place) -> None:
        await decide(place)
        async with followed(place.store()) as told:
            place.refuse(MAPS, 500, times=3)
            mark = told.mark
            await asyncio.sleep(CONFIRM_S + 10)

            kinds = [type(each).__name__ for each in told.all[mark:]]
            assert kinds[0] == "Away"
            assert kinds.count("Away") == 1
            assert kinds.count("StatusRead") == kinds.count("MembersRead") == 1
            assert "Confirmed" in kinds

    played(scene)


def test_a_server_that_does_not_answer_is_away_in_time() -> None:
    """Covers F-8 in part. A watch alone would be silent for minutes."""

    async def scene(place: Place) -> None:
        async with followed(place.store()) as told:
            mark = told.mark
            place.api.order("silence")
            place.hang(MAPS, times=1)
            await asyncio.sleep(CONFIRM_S + 1)

            assert told.of(Away, since=mark)

    played(scene)


def test_a_status_whose_object_was_made_anew_is_told_as_absent_first() -> None:
    """Covers F-18 in part."""

    async def scene(place: Place) -> None:
        await decide(place)
        async with followed(place.store()) as told:
            mark = told.mark
            # Both come at once, before anything of the first can be told.
            gone = place.objects.delete(CONFIG_MAPS, NAMESPACE, STATUS, {})
            anew = {"metadata": {"name": STATUS}, "data": gone["data"]}
            place.objects.create(CONFIG_MAPS, NAMESPACE, anew)
            await asyncio.sleep(1)

            told_now = [each.status for each in told.of(StatusRead, since=mark)]
            assert told_now == [None, DECIDED]

    played(scene)


def test_a_right_that_lacks_is_told_with_what_lacks() -> None:
    async def scene(place: Place) -> None:
        place.refuse("/apis/coordination.k8s.io/v1/namespaces/t/leases", 403, times=5)
        async with followed(place.store(), settle_s=120) as told:
            assert "leases" in told.of(Away)[0].why
            assert told.of(Confirmed)

    played(scene)


def test_where_ordinals_start_is_read_and_until_then_nothing_is_told() -> None:
    """Covers R-37 in part."""

    async def scene(place: Place) -> None:
        workload = {"metadata": {"name": "chat"}, "spec": {"ordinals": {"start": 5}}}
        place.objects.create(("apps", "statefulsets"), NAMESPACE, workload)
        place.refuse(SETS, 403, times=2)
        store = place.store("chat-6", ordinals_start=None)
        async with followed(store, settle_s=10) as told:
            assert len(told.of(Away)) == 1
            assert "ordinals_start" in told.of(Away)[0].why
            assert [each.index for each in told.of(MembersRead)[-1].members] == [2]

    played(scene)


def test_without_the_right_to_read_them_ordinals_have_to_be_said() -> None:
    """Covers R-37 in part."""

    async def scene(place: Place) -> None:
        place.refuse(SETS, 403, times=1)
        with pytest.raises(Denied, match=r"Grant get .* or give ordinals_start"):
            await place.store(ordinals_start=None).ordinals_start()
        assert await place.store(ordinals_start=5).ordinals_start() == 5
        assert await place.store(ordinals_start=None, kind="Deployment").ordinals_start() == 0

    played(scene)


def test_replicas_are_told_where_they_may_be_read() -> None:
    """Covers R-2. Only read."""

    async def scene(place: Place) -> None:
        made = {"metadata": {"name": "chat"}, "status": {"replicas": 4}}
        place.objects.create(("apps", "deployments"), NAMESPACE, made)

        assert await place.store().replicas() is None
        assert await place.store(kind="Deployment").replicas() == 4
        assert await place.store(kind="CloneSet").replicas() is None
        place.refuse("/apis/apps", 403, times=1)
        assert await place.store(kind="Deployment").replicas() is None

    played(scene)


def test_members_that_change_together_are_told_together() -> None:
    async def scene(place: Place) -> None:
        stores = [place.store(f"chat-{index}") for index in range(50)]
        async with followed(stores[0]) as told:
            mark = told.mark
            for index, each in enumerate(stores):
                await each.join(Member(id=index, name=f"chat-{index}", boot="b", is_target=True))
            await asyncio.sleep(1)

            assert len(told.of(MembersRead, since=mark)) <= 3
            assert all(each.is_target for each in told.of(MembersRead)[-1].members)

    played(scene)


def test_what_the_deletion_of_a_pod_costs_is_written_on_it_and_told() -> None:
    async def scene(place: Place) -> None:
        store, _ = place.store(), place.store("chat-1")
        async with followed(store) as told:
            await store.set_cost("chat-1", -1000)
            await asyncio.sleep(1)

            assert [each.deletion_cost for each in told.of(MembersRead)[-1].members] == [0, -1000]
            with pytest.raises(Denied, match="chat-7"):
                await store.set_cost("chat-7", 1)

    played(scene)


def test_who_only_observes_writes_no_status_of_those_who_act() -> None:
    """Covers R-42 in part."""

    async def scene(place: Place) -> None:
        store, watcher = place.store(), place.store("chat-1", is_observing=True)
        first = await store.acquire("chat-0", ttl_ms=15_000)
        second = await watcher.acquire("chat-1", ttl_ms=15_000)
        assert first is not None
        assert second is not None
        await watcher.put_status(Offer(token=second.token, revision=ABSENT, status=DECIDED))
        await watcher.put_record(2, RECORD)

        assert await store.read_status() == StatusRead(status=None)
        async with followed(store) as told:
            assert told.of(RecordsRead) == [RecordsRead({2: RECORD})]

    played(scene)


def test_records_that_many_delete_at_once_all_go() -> None:
    async def scene(place: Place) -> None:
        stores = [place.store(f"chat-{index}") for index in range(5)]
        for index, each in enumerate(stores, start=1):
            await each.put_record(index, RECORD)
        await asyncio.gather(
            *(each.delete_record(index, "b") for index, each in enumerate(stores, start=1))
        )
        async with followed(stores[0]) as told:
            assert told.of(RecordsRead) == [RecordsRead({})]

    played(scene)
