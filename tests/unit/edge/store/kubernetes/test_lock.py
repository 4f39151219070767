"""The lock in a cluster, where Leases are deleted, clocks are wrong and processes stand still."""

import asyncio
from collections.abc import Mapping

import pytest

from springtide.edge.cluster import Target
from springtide.edge.kube import KubeCluster, Waiting
from springtide.edge.machine import MachineCalendar, SeededRng
from springtide.edge.store import ABSENT, Conflict, FenceReason, Held, LockRead, Offer, Unreachable
from springtide.edge.store.kubernetes import KubernetesStore, Pace
from springtide.model.config_map import ConfigMap
from springtide.model.replicas.status import Status
from tests.kubeapi import Direct
from tests.kubestores import ACCESS, LEADER, LEASES, NAMESPACE, Place, followed, played
from tests.virtual import LoopClock

TTL_MS = 15_000
STATUS = Status(current=3, expect=2, start_ms=1, end_ms=2, scaling_ms=3, generation=1)


async def taken(store: KubernetesStore, holder: str = "chat-0") -> Held:
    """Return the lock, which is free."""
    found = await store.acquire(holder, ttl_ms=TTL_MS)
    assert found is not None
    return found


def test_tokens_grow_also_when_somebody_deletes_the_lease() -> None:
    """Covers R-55 in part."""

    async def scene(place: Place) -> None:
        a, b = place.store("chat-0"), place.store("chat-1")
        first = await taken(a)
        place.drop_lease()
        second = await taken(b, "chat-1")

        assert second.token > first.token
        assert place.lease()["leaseTransitions"] == second.token
        with pytest.raises(Conflict):
            await a.renew(first.token)
        with pytest.raises(Conflict) as caught:
            await a.put_status(Offer(token=first.token, revision=ABSENT, status=STATUS))
        assert caught.value.reason == FenceReason.DEPOSED
        await a.release(first.token)
        assert place.lease()["holderIdentity"] == "chat-1"

    played(scene)


@pytest.mark.parametrize("renewed", ["1999-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"])
def test_a_lease_is_as_old_as_we_have_seen_it_unchanged_whatever_its_times_say(
    renewed: str,
) -> None:
    async def scene(place: Place) -> None:
        spec = {
            "holderIdentity": "other",
            "leaseDurationSeconds": 15,
            "renewTime": renewed,
            "leaseTransitions": 7,
        }
        made = {"metadata": {"name": LEADER}, "spec": spec}
        place.objects.create(LEASES, NAMESPACE, made)
        store = place.store()

        assert await store.acquire("chat-0", ttl_ms=TTL_MS) is None
        await asyncio.sleep(14.9)
        assert await store.acquire("chat-0", ttl_ms=TTL_MS) is None
        await asyncio.sleep(0.2)
        assert await store.acquire("chat-0", ttl_ms=TTL_MS) == Held(8)

    played(scene)


def test_what_others_write_on_a_lease_does_not_end_it() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        lock = await taken(store)
        note = {"metadata": {"annotations": {"note": "by hand"}}}
        place.objects.merge(LEASES, NAMESPACE, LEADER, note)

        await store.renew(lock.token)
        await asyncio.sleep(10)
        await store.renew(lock.token)

    played(scene)


def test_a_renewal_of_which_nobody_knows_is_tried_again() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        lock = await taken(store)
        place.refuse("/apis/coordination", 500, times=1)

        with pytest.raises(Unreachable):
            await store.renew(lock.token)
        await store.renew(lock.token)

    played(scene)


def test_who_stood_still_for_too_long_writes_nothing_though_nobody_took_the_lock() -> None:
    """Covers F-6 in part."""

    async def scene(place: Place) -> None:
        store = place.store()
        lock = await taken(store)
        await asyncio.sleep(16)
        before = len(place.writes())

        with pytest.raises(Conflict) as caught:
            await store.put_status(Offer(token=lock.token, revision=ABSENT, status=STATUS))
        assert caught.value.reason == FenceReason.DEPOSED
        assert len(place.writes()) == before

    played(scene)


class Meddled(KubeCluster):
    """A cluster in which somebody else does something right before a text is written."""

    def __init__(self, place: Place, meddler: KubernetesStore) -> None:
        super().__init__(Direct(place.api), waiting=Waiting(clock=LoopClock(), rng=SeededRng(1)))
        self._place = place
        self._meddler: KubernetesStore | None = meddler
        self.held: Held | None = None

    async def patch_data(self, target: Target, data: Mapping[str, str | None]) -> ConfigMap:
        """Let the other one take the lock first, the first time that a status is written."""
        meddler = self._meddler
        if "status" in data and meddler is not None:
            self._meddler = None
            self._place.drop_lease()
            self.held = await meddler.acquire("chat-1", ttl_ms=TTL_MS)
        return await super().patch_data(target, data)


def test_a_lock_that_changes_hands_in_the_middle_of_a_write_makes_it_fail() -> None:
    """Covers R-55 in part. One write of the server decides about the leader and the status at once."""

    async def scene(place: Place) -> None:
        cluster = Meddled(place, place.store("chat-1"))
        place.pod("chat-0")
        pace = Pace(clock=LoopClock(), calendar=MachineCalendar(), rng=SeededRng(1))
        store = KubernetesStore(cluster, ACCESS, pace=pace)
        lock = await taken(store)

        with pytest.raises(Conflict) as caught:
            await store.put_status(Offer(token=lock.token, revision=ABSENT, status=STATUS))

        assert caught.value.reason == FenceReason.DEPOSED
        assert cluster.held is not None
        assert "status" not in place.texts()
        assert place.texts()["token"] == str(cluster.held.token)

    played(scene)


def test_a_token_that_somebody_else_has_claimed_is_no_lock() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        first = await taken(store)
        await store.release(first.token)
        larger = {"data": {"token": "99"}}
        place.objects.merge(("", "configmaps"), NAMESPACE, "chat-hpa-status", larger)

        assert await store.acquire("chat-0", ttl_ms=TTL_MS) == Held(100)

    played(scene)


def test_a_lock_that_nobody_renews_is_told_as_free_when_its_time_is_over() -> None:
    async def scene(place: Place) -> None:
        store = place.store("chat-1")
        lock = await taken(place.store("chat-0"))
        async with followed(store) as told:
            assert told.of(LockRead) == [LockRead(lock.token, "chat-0")]
            await asyncio.sleep(13.5)
            assert len(told.of(LockRead)) == 1
            await asyncio.sleep(1)

            assert told.of(LockRead)[1:] == [LockRead(ABSENT)]

    played(scene)
