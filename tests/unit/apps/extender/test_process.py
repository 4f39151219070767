"""The path of a pod through a running extender: filter, bind, and what goes wrong on the way."""

import asyncio

from springtide.edge.cluster import Conflict, Failing
from springtide.engine.live import LiveSettings
from tests.builders import card
from tests.running import (
    NODE,
    PHASE,
    QUOTAS,
    SCHEDULER,
    Unwilling,
    World,
    live_of,
    run,
    running,
    until,
)


def two_nodes() -> World:
    """Return two nodes with two cards each."""
    world = World()
    world.add_node("a")
    world.add_node("b")
    return world


def test_a_pod_gets_a_node_and_is_bound_to_it() -> None:
    world = two_nodes()

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            pod = world.add_pod("train", gpu=1, gpumem=3000, gpucores=30)
            answer = await extender.filter(pod, "a", "b")
            node = answer["NodeNames"][0]
            written = world.annotations("train")
            error = await extender.bind(pod, node)
            await extender.settled()

            assert answer == {
                "Nodes": None,
                "NodeNames": [node],
                "FailedNodes": None,
                "FailedAndUnresolvableNodes": None,
                "Error": "",
            }
            assert written[NODE] == node
            assert world.pod("train")["metadata"]["labels"][NODE] == node
            assert error == ""
            assert world.pod("train")["spec"]["nodeName"] == node
            assert world.annotations("train")[PHASE] == "allocating"
            assert (world.lock(node) or "").endswith(",team,train")
            assert [each["count"] for each in world.events("FilteringSucceed")] == [1]
            assert [each["count"] for each in world.events("BindingSucceed")] == [1]
            assert [each["pod"] for each in extender.log.of("filter")] == ["team/train"]

    run(work())


def test_a_filter_call_writes_nothing_where_the_bind_writes_everything() -> None:
    world = two_nodes()
    settings = LiveSettings(scheduler_name=SCHEDULER, writes_at_bind=True)

    async def work() -> None:
        async with running(Unwilling(world.store), live=live_of(settings)) as extender:
            pod = world.add_pod("train", gpu=1, gpumem=3000, gpucores=30)
            answer = await extender.filter(pod, "a")
            written = world.annotations("train")
            error = await extender.bind(pod, "a")
            await extender.settled()

            assert answer["NodeNames"] == ["a"]
            assert written == {}
            assert error == ""
            assert world.annotations("train")[NODE] == "a"
            assert world.annotations("train")[PHASE] == "allocating"
            assert world.pod("train")["metadata"]["labels"][NODE] == "a"
            assert world.pod("train")["spec"]["nodeName"] == "a"

    run(work())


def test_a_process_whose_lease_has_run_out_meanwhile_binds_nothing_that_it_alone_knows_of() -> None:
    world = two_nodes()
    cluster = Unwilling(world.store)
    settings = LiveSettings(scheduler_name=SCHEDULER, writes_at_bind=True)

    async def work() -> None:
        async with running(cluster, live=live_of(settings)) as extender:
            pod = world.add_pod("train", gpu=1)
            await extender.filter(pod, "a")
            await extender.settled()
            cluster.held.clear()
            binding = asyncio.create_task(extender.bind(pod, "a"))
            await until(lambda: extender.process.scheduling.binds)
            extender.process.scheduling.holds = lambda: False
            cluster.held.set()
            error = await binding

            assert error == "this replica does not lead any more: the pod is scheduled again"
            assert world.lock("a") is None
            assert world.annotations("train") == {}
            assert "nodeName" not in world.pod("train")["spec"]

    run(work())


def test_whole_nodes_go_back_as_they_were_sent() -> None:
    world = two_nodes()

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            pod = world.add_pod("train", gpu=1)
            items = [{"metadata": {"name": name}, "x": {"y": [name]}} for name in ("a", "b")]
            body = {"Pod": pod, "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}
            answer = await extender.post("/filter", body)

            node = world.annotations("train")[NODE]
            assert answer["NodeNames"] is None
            assert answer["Nodes"]["items"] == [
                each for each in items if each["x"] == {"y": [node]}
            ]

    run(work())


def test_a_pod_without_devices_keeps_all_of_its_nodes() -> None:
    world = two_nodes()

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            pod = world.add_pod("web")
            answer = await extender.filter(pod, "b", "nowhere", "a")
            error = await extender.bind(pod, "b")

            assert answer["NodeNames"] == ["b", "nowhere", "a"]
            assert error == ""
            assert world.pod("web")["spec"]["nodeName"] == "b"
            assert NODE not in world.annotations("web")

    run(work())


def test_a_pod_that_fits_nowhere_gets_a_reason_for_each_node() -> None:
    world = two_nodes()

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            answer = await extender.filter(
                world.add_pod("huge", gpu=1, gpumem=90000), "a", "b", "nowhere"
            )
            await extender.settled()

            assert answer["NodeNames"] is None
            assert answer["FailedNodes"] == {
                "a": "2/2 CardInsufficientMemory",
                "b": "2/2 CardInsufficientMemory",
                "nowhere": "node unregistered",
            }
            assert world.events("FilteringFailed")
            assert extender.log.of("filter")[0]["reasons"] == {
                "CardInsufficientMemory": 2,
                "node unregistered": 1,
            }

    run(work())


def test_a_call_without_any_nodes_is_an_error() -> None:
    world = two_nodes()

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            answer = await extender.post("/filter", {"Pod": world.add_pod("train", gpu=1)})

            assert "missing both" in answer["Error"]

    run(work())


def test_a_reservation_that_cannot_be_written_is_taken_back() -> None:
    world = World()
    world.add_node("a", card("only"))

    async def work() -> None:
        cluster = Unwilling(world.store)
        async with running(cluster) as extender:
            cluster.faults = [Conflict("somebody was faster"), Failing("it is on fire")]
            pod = world.add_pod("train", gpu=1)
            first, second = await extender.filter(pod, "a"), await extender.filter(pod, "a")
            held = list(extender.live.holders.all())
            other = await extender.filter(world.add_pod("other", gpu=1), "a")

            assert "somebody was faster" in first["Error"]
            assert "it is on fire" in second["Error"]
            assert held == []
            assert other["NodeNames"] == ["a"]

    run(work())


def test_what_an_earlier_call_has_written_is_taken_off_where_a_later_one_cannot_write() -> None:
    world = World()
    world.add_node("a", card("only"))

    async def work() -> None:
        cluster = Unwilling(world.store)
        async with running(cluster) as extender:
            pod = world.add_pod("train", gpu=1)
            await extender.filter(pod, "a")
            await until(lambda: NODE in world.annotations("train"))
            cluster.faults = [Failing("it is on fire")]
            again = await extender.filter(world.pod("train"), "a")

            assert "it is on fire" in again["Error"]
            await until(lambda: not world.annotations("train").get(NODE))
            assert list(extender.live.holders.all()) == []

    run(work())


def test_the_same_pod_asked_twice_at_once_holds_its_devices_once() -> None:
    world = two_nodes()

    async def work() -> None:
        cluster = Unwilling(world.store)
        async with running(cluster) as extender:
            pod = world.add_pod("train", gpu=1)
            cluster.held.clear()
            calls = [asyncio.create_task(extender.filter(pod, "a", "b")) for _ in range(3)]
            await until(lambda: extender.live.tracking.reservations)
            cluster.held.set()
            answers = [await each for each in calls]

            assert len({each["NodeNames"][0] for each in answers}) == 1
            assert len(list(extender.live.holders.all())) == 1
            extender.live.ledger.check()

    run(work())


def test_binds_to_one_node_wait_for_it_in_order() -> None:
    world = World()
    world.add_node("a")

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            pods = [world.add_pod(f"p{each}", gpu=1, gpumem=100, gpucores=1) for each in range(4)]
            for pod in pods:
                assert (await extender.filter(pod, "a"))["NodeNames"] == ["a"]
            binds = [asyncio.create_task(extender.bind(pod, "a")) for pod in pods]
            served = []
            for bind in binds:
                assert await bind == ""
                served.append((world.lock("a") or "").rpartition(",")[2])
                world.allocate("a")

            assert sorted(served) == ["p0", "p1", "p2", "p3"]
            assert not extender.live.tracking.reservations

    run(work())


def test_a_bind_of_what_is_not_there_is_told() -> None:
    world = two_nodes()

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            pod = world.add_pod("train", gpu=1)
            gone = {"metadata": {"name": "x", "namespace": "team", "uid": "y"}}

            assert "not found" in await extender.bind(gone, "a")
            assert "not found" in await extender.bind(pod, "nowhere")
            assert "no devices reserved" in await extender.bind(pod, "a")

    run(work())


def test_what_is_killed_between_filter_and_bind_is_known_to_the_next_process() -> None:
    world = World()
    world.add_node("a", card("only"))

    async def work() -> None:
        cluster = Unwilling(world.store)
        pod = world.add_pod("train", gpu=1)
        async with running(cluster) as before:
            await before.filter(pod, "a")
        async with running(cluster) as after:
            refused = await after.filter(world.add_pod("late", gpu=1), "a")
            held = [each.uid for each in after.live.holders.all()]
            error = await after.bind(world.pod("train"), "a")
            world.allocate("a")
            world.store.delete(("", "pods"), "team", "train", {})
            await until(lambda: not list(after.live.holders.all()))
            placed = await after.filter(world.pod("late"), "a")

            assert refused["FailedNodes"]
            assert held == [pod["metadata"]["uid"]]
            assert error == ""
            assert placed["NodeNames"] == ["a"]
            after.live.ledger.check()

    run(work())


def test_nobody_is_answered_before_the_cluster_is_known() -> None:
    world = two_nodes()
    world.store.create(QUOTAS, "team", {"metadata": {"name": "q", "namespace": "team"}, "spec": {}})

    async def work() -> None:
        async with running(Unwilling(world.store), waits=False) as extender:
            pod = world.add_pod("train", gpu=1)
            answer = await extender.filter(pod, "a", "b")

            assert answer["NodeNames"]
            assert extender.log.of("rebuilt")

    run(work())


def test_a_node_that_goes_and_comes_back_has_its_pods_again() -> None:
    world = World()
    world.add_node("a", card("only"))

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            pod = world.add_pod("train", gpu=1)
            await extender.filter(pod, "a")
            await extender.bind(pod, "a")
            world.allocate("a")
            world.store.delete(("", "nodes"), "", "a", {})
            gone = await extender.filter(world.add_pod("other", gpu=1), "a")
            world.add_node("a", card("only"))
            back = await extender.filter(world.pod("other"), "a")

            assert gone["FailedNodes"] == {"a": "node unregistered"}
            assert "a" in back["FailedNodes"]
            assert back["FailedNodes"]["a"] != "node unregistered"

    run(work())
