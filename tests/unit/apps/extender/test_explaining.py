"""/v1/why: the answer of `springtide why` from what the running process knows, while it goes on working."""

import asyncio
from typing import Any, Never

import msgspec
import pytest

from springtide.apps.extender import Choosing, Settings
from springtide.apps.planner.families import Policies
from springtide.apps.why import WhyReport
from tests.loopback import Answer, call
from tests.memorycluster import MemoryCluster
from tests.running import NODE, NODES, Standing, Unwilling, World, run, running, until

REGISTER = "hami.io/node-nvidia-register"
HANDSHAKE = "hami.io/node-handshake"


class Mute(MemoryCluster):
    """A cluster that nothing is heard of."""

    async def follow(self, *_: object, **__: object) -> Never:
        """Wait for ever."""
        await asyncio.Event().wait()
        raise AssertionError


async def ask(extender: Standing, query: str) -> Answer:
    """Ask on the address on which schedulers call."""
    return await call(extender.calls, "GET", f"/v1/why?{query}")


async def why(extender: Standing, query: str) -> Any:
    """Return the answer about one pod."""
    found = await ask(extender, query)
    assert found.status == 200, found
    report = msgspec.json.decode(found.body, type=WhyReport)
    assert report.kind == "Why"
    (pod,) = report.pods
    return pod


@pytest.mark.parametrize(
    "query",
    ["pod=team/big", "pod=pod/big&namespace=team", "pod=big&namespace=team", "pod=pod/team/big"],
)
def test_a_pod_that_fits_nowhere_is_told_why_and_what_would_help(query: str) -> None:
    world = World()
    world.add_node("a")
    world.add_pod("big", gpu=1, gpumem=90000)

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            pod = await why(extender, query)

            assert pod.pods == ("team/big",)
            assert not pod.fits
            assert pod.verdicts[0].reason == "2/2 CardInsufficientMemory"
            assert pod.changes[0].text == "ask nvidia.com/gpumem: 24576 instead of 90000"

    run(work())


def test_what_is_reserved_but_not_written_yet_is_taken() -> None:
    world = World()
    world.add_node("a")
    cluster = Unwilling(world.store)
    first = world.add_pod("first", gpu=2, gpumem=20000)
    world.add_pod("next", gpu=1, gpumem=20000)

    async def work() -> None:
        async with running(cluster) as extender:
            cluster.held.clear()
            filtering = asyncio.create_task(extender.filter(first, "a"))
            await until(lambda: extender.live.tracking.reservations)

            about_next = await why(extender, "pod=team/next")
            about_first = await why(extender, "pod=team/first")
            cluster.held.set()
            await filtering

            assert NODE not in first["metadata"].get("annotations", {})
            assert not about_next.fits
            assert about_next.verdicts[0].reason == "2/2 CardInsufficientMemory"
            assert about_first.fits

    run(work())


def test_devices_that_are_not_there_any_more_are_not_counted_on() -> None:
    world = World()
    world.add_node("a")
    world.add_pod("train", gpu=1, gpumem=1000)

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            node = world.store.read(NODES, "", "a")
            registered = node["metadata"]["annotations"][REGISTER]
            gone = {"status": {"allocatable": {"nvidia.com/gpu": "0"}}}
            asked = {"metadata": {"annotations": {HANDSHAKE: "Requesting_2020-01-01 00:00:00"}}}
            world.store.merge(NODES, "", "a", {**gone, **asked})
            await until(lambda: extender.live.ledger.view(0, "NVIDIA") is None)

            pod = await why(extender, "pod=team/train")

            assert registered
            assert not pod.fits
            assert pod.verdicts[0].reason == "node unregistered"

    run(work())


def test_each_node_is_told_by_itself_where_that_is_asked() -> None:
    world = World()
    world.add_node("a")
    world.add_node("b")
    world.add_pod("big", gpu=1, gpumem=90000)

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            pod = await why(extender, "pod=team/big&allNodes=true")

            assert [each.nodes for each in pod.verdicts] == [("a",), ("b",)]
            assert pod.verdicts[0].devices[0].devices[0].reason == "CardInsufficientMemory"

    run(work())


def test_it_is_answered_by_the_policies_and_resources_of_the_process() -> None:
    config = {"nvidia": {"resourceCountName": "example.com/gpu"}}
    choosing = Choosing(policies=Policies(node="spread"), device_config=config)
    world = World()
    world.add_node("a")
    world.add_pod("train", gpu=1, gpumem=1000)

    async def work() -> None:
        async with running(
            Unwilling(world.store), settings=Settings(choosing=choosing)
        ) as extender:
            pod = await why(extender, "pod=team/train")

            # Nobody has this resource: it is none that the process takes care of.
            assert "Insufficient nvidia.com/gpu" in pod.verdicts[0].reason or pod.fits

    run(work())


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("", 400, "Name the pod"),
        ("pod=", 400, "Name the pod"),
        ("&".join(f"pod=p{each}" for each in range(17)), 400, "17 pods are named"),
        (
            "pod=team/nobody",
            404,
            "There is no pod team/nobody in the input. Did you mean team/train?",
        ),
    ],
)
def test_questions_that_cannot_be_answered_are_told_why(
    query: str, status: int, sentence: str
) -> None:
    world = World()
    world.add_node("a")
    world.add_pod("train", gpu=1)

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            found = await ask(extender, query)

            assert found.status == status
            assert sentence in msgspec.json.decode(found.body)["error"]

    run(work())


def test_before_the_cluster_is_known_there_is_no_answer() -> None:
    async def work() -> None:
        async with running(Mute(World().store), waits=False) as extender:
            found = await ask(extender, "pod=team/train")

            assert found.status == 503
            assert "still reading the cluster" in msgspec.json.decode(found.body)["error"]

    run(work())


def test_of_many_questions_at_once_some_are_told_to_come_back() -> None:
    world = World()
    world.add_node("a")
    world.add_pod("train", gpu=1)

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            found = await asyncio.gather(*(ask(extender, "pod=team/train") for _ in range(14)))
            after = await extender.filter(world.add_pod("next", gpu=1), "a")

            statuses = [each.status for each in found]
            assert statuses.count(503) == 14 - 9
            assert statuses.count(200) == 9
            assert after["NodeNames"] == ["a"]

    run(work())


def test_only_those_who_may_call_are_answered() -> None:
    async def work() -> None:
        async with running(Unwilling(World().store)) as extender:
            assert (await extender.get("/v1/why?pod=a/b")).status == 404

    run(work())
