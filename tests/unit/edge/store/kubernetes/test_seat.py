"""The own pod: written on by one run alone, again where others have changed it, and no more than that."""

import asyncio
from typing import Any

import msgspec
import pytest

from springtide.edge.store import Denied, MembersRead, Unreachable
from springtide.model.replicas.member import Member
from springtide.wire.k8s.replica_pods import ANNOTATION
from tests.kubestores import NAMESPACE, PODS, Place, followed, played

MEMBER = Member(id=0, name="chat-0", boot="first", index=1, is_target=True, is_ready=True)
LABELS = {"app": "chat", "hpa_scaling_target": "1", "hpa_scaling_ready": "1"}


def annotation(place: Place) -> dict[str, Any]:
    """Return what is written on the pod."""
    found: dict[str, Any] = msgspec.json.decode(
        place.read_pod()["metadata"]["annotations"][ANNOTATION]
    )
    return found


def patches(place: Place) -> int:
    """Return how often something was written on a pod."""
    return sum(each.method == "PATCH" and "/pods/" in each.path for each in place.api.asked)


def test_labels_that_somebody_takes_away_are_written_again() -> None:
    """Covers R-29 in part."""

    async def scene(place: Place) -> None:
        store = place.store()
        async with followed(store):
            await store.join(MEMBER)
            await asyncio.sleep(5)
            before = patches(place)
            place.change_pod({"metadata": {"labels": {"hpa_scaling_ready": None}}})
            await asyncio.sleep(5)

            assert before == 1
            assert patches(place) == 2
            assert place.read_pod()["metadata"]["labels"] == LABELS

    played(scene)


def test_who_changes_a_pod_all_the_time_is_answered_once_a_second_at_most() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        async with followed(store):
            await store.join(MEMBER)
            for _ in range(100):
                place.change_pod({"metadata": {"labels": {"hpa_scaling_ready": "0"}}})
                await asyncio.sleep(0.1)

            assert 5 <= patches(place) <= 11

    played(scene)


def test_a_restart_that_is_reported_late_is_written_after_it() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        async with followed(store) as told:
            await store.join(MEMBER)
            running = {"name": "main", "restartCount": 1, "state": {"running": {}}}
            place.change_pod({"status": {"containerStatuses": [running]}})
            await asyncio.sleep(5)

            assert annotation(place)["restarts"] == 1
            (there,) = told.of(MembersRead)[-1].members
            assert (there.boot, there.is_ready) == ("first", True)

    played(scene)


def test_a_run_that_was_followed_by_another_one_writes_nothing_more() -> None:
    async def scene(place: Place) -> None:
        old, new = place.store(), place.store()
        async with followed(old), followed(new):
            await old.join(MEMBER)
            await new.join(msgspec.structs.replace(MEMBER, boot="second"))
            await asyncio.sleep(1)
            before = patches(place)
            await old.join(msgspec.structs.replace(MEMBER, is_ready=False))
            await old.leave()
            await asyncio.sleep(60)

            assert annotation(place)["boot"] == "second"
            assert patches(place) == before
            assert place.read_pod()["metadata"]["labels"] == LABELS

    played(scene)


def test_nothing_is_written_on_a_later_pod_of_the_same_name() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        async with followed(store):
            await store.join(MEMBER)
            place.objects.delete(PODS, NAMESPACE, "chat-0", {})
            place.pod("chat-0")
            await asyncio.sleep(5)

            with pytest.raises(Denied, match="made anew"):
                await store.join(msgspec.structs.replace(MEMBER, is_ready=False))
            assert "annotations" not in place.read_pod()["metadata"]

    played(scene)


def test_a_pod_that_is_not_there_is_named() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        place.objects.delete(PODS, NAMESPACE, "chat-0", {})

        with pytest.raises(Denied, match="Pod t/chat-0"):
            await store.join(MEMBER)
        await store.leave()

    played(scene)


def test_what_could_not_be_written_is_written_as_soon_as_it_can() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        async with followed(store):
            place.refuse("/api/v1/namespaces/t/pods/chat-0", 500, times=3)
            with pytest.raises(Unreachable):
                await store.join(MEMBER)
            await asyncio.sleep(10)

            assert annotation(place)["boot"] == "first"

    played(scene)


def test_a_server_that_gives_up_among_too_many_changes_is_asked_again() -> None:
    async def scene(place: Place) -> None:
        store = place.store()
        place.refuse("/api/v1/namespaces/t/pods/chat-0", 409, times=0)
        await store.join(MEMBER)
        read = place.api.answer(place.api.asked[0])
        place.api.scripted = [("/api/v1/namespaces/t/pods/chat-0", read)]
        place.refuse("/api/v1/namespaces/t/pods/chat-0", 409, times=1)

        await store.join(msgspec.structs.replace(MEMBER, is_ready=False))

        assert place.read_pod()["metadata"]["labels"]["hpa_scaling_ready"] == "0"

    played(scene)
