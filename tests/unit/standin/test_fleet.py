"""A fleet of stand-in nodes on a cluster in memory, in virtual time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from springtide.edge.cluster import AlreadyThere, Conflict, NotFound, Target, Unreachable
from springtide.model.device import Device
from tests.memorycluster import LEASE_PLACE, MemoryCluster
from tests.objectstore import Object, ObjectStore, Refused
from tests.standin.bodies import FakeNode
from tests.standin.conduct import ALLOCATES, RUN_S, START_S, WELL, Conduct, Plugin
from tests.standin.fleet import Fleet
from tests.standin.heartbeat import NAMESPACE
from tests.standin.plugin import LOCK, NVIDIA, Devices, Family
from tests.standin.worker import Pace
from tests.virtual import LoopClock, run

BEGIN = datetime(2026, 11, 30, 20, tzinfo=UTC)
NODES, PODS = ("", "nodes"), ("", "pods")
PHASE = "hami.io/bind-phase"
ASCEND = Family(
    resource="huawei.com/Ascend910B",
    register="hami.io/node-register-Ascend910B",
    work="hami.io/Ascend910B-devices-to-allocate",
    handshake="hami.io/node-handshake-Ascend910B",
)
CARDS = (Device(id="GPU-a", slots=10, memory_mib=1000, cores=100, is_healthy=True),)


class MemoryHands:
    """A kubelet's rights on an object store; `failures` says how many writes fail first."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.failures = 0

    async def create_node(self, node: Any) -> None:
        if ("", node["metadata"]["name"]) in self.store.objects[NODES]:
            raise AlreadyThere(str(node["metadata"]["name"]))
        self.store.create(NODES, "", node)

    async def write_status(self, target: Target, status: Any) -> None:
        if self.failures:
            self.failures -= 1
            raise Unreachable("no answer")
        place = ("", target.resource.plural)
        metadata = {"uid": target.uid} if target.uid else {}
        patch = {"metadata": metadata, "status": status}
        try:
            self.store.merge(place, target.namespace, target.name, patch)
        except Refused as refused:
            fault = NotFound if refused.code == 404 else Conflict
            raise fault(refused.message) from refused


class World:
    """A store with a fleet on it, and somebody who looks and meddles."""

    def __init__(self, *nodes: FakeNode) -> None:
        self.store = ObjectStore()
        self.hands = MemoryHands(self.store)
        pace = Pace(clock=LoopClock(), now=self.now, beat_s=10, report_s=30)
        self.fleet = Fleet(MemoryCluster(self.store), self.hands, nodes, pace=pace)

    def now(self) -> datetime:
        return BEGIN + timedelta(seconds=asyncio.get_running_loop().time())

    def pod(self, name: str) -> Object:
        return self.store.read(PODS, "t", name)

    def phase(self, name: str) -> str:
        return str(self.pod(name)["status"]["phase"])

    def node(self, name: str) -> Object:
        return self.store.read(NODES, "", name)

    def told(self, name: str) -> dict[str, str]:
        found = self.node(name)["metadata"].get("annotations", {})
        assert isinstance(found, dict)
        return found

    def annotate(self, name: str, **written: str | None) -> None:
        self.store.merge(NODES, "", name, {"metadata": {"annotations": written}})

    def create(self, name: str, *counts: int, node: str = "n", **annotations: str) -> None:
        """Create a pod that is bound, with a container for each count of cards."""
        containers = [
            {"name": f"c{at}", "resources": {"limits": {NVIDIA.resource: str(count)}}}
            for at, count in enumerate(counts or (0,))
        ]
        metadata = {"name": name, "namespace": "t", "annotations": annotations}
        spec = {"nodeName": node, "containers": containers}
        status = {"phase": "Pending"}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        self.store.create(PODS, "t", {**body, "status": status})


def played(play: Callable[[World], Awaitable[None]], *nodes: FakeNode) -> None:
    """Run a fleet and a play beside it."""

    async def whole() -> None:
        world = World(*nodes)
        fleet = asyncio.create_task(world.fleet.run())
        await asyncio.sleep(1)
        await play(world)
        assert not fleet.done(), fleet.exception()
        fleet.cancel()
        await asyncio.gather(fleet, return_exceptions=True)

    run(whole())


def gpu_node(*families: Family) -> FakeNode:
    devices = tuple(Devices(family=each, devices=CARDS) for each in families or (NVIDIA,))
    return FakeNode(name="n", devices=devices)


def test_nodes_keep_their_leases() -> None:
    async def play(world: World) -> None:
        first = world.store.read(LEASE_PLACE, NAMESPACE, "n")["spec"]["renewTime"]
        await asyncio.sleep(25)
        later = world.store.read(LEASE_PLACE, NAMESPACE, "n")["spec"]["renewTime"]

        assert first == "2026-11-30T20:00:00.000000Z"
        assert later == "2026-11-30T20:00:20.000000Z"

    played(play, FakeNode(name="n"))


def test_a_silent_node_renews_nothing_and_reports_ready_afterwards() -> None:
    async def play(world: World) -> None:
        await world.fleet.order("n", Conduct(is_silent=True))
        await asyncio.sleep(60)
        silent = world.store.read(LEASE_PLACE, NAMESPACE, "n")["spec"]["renewTime"]
        unknown = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
        world.store.merge(NODES, "", "n", {"status": unknown})
        await world.fleet.order("n", WELL)
        await asyncio.sleep(1)

        assert silent == "2026-11-30T20:00:00.000000Z"
        assert world.node("n")["status"]["conditions"][0]["status"] == "True"

    played(play, FakeNode(name="n"))


def test_a_deleted_node_comes_back_when_it_joins() -> None:
    async def play(world: World) -> None:
        world.store.delete(NODES, "", "n", {})
        await asyncio.sleep(60)
        gone = world.store.listed(NODES)
        await world.fleet.join("n")

        assert gone == []
        assert world.node("n")["status"]["conditions"][0]["status"] == "True"

    played(play, FakeNode(name="n"))


def test_pods_start_run_and_end() -> None:
    async def play(world: World) -> None:
        world.create("p", **{START_S: "5", RUN_S: "10"})
        seen = []
        for _ in range(4):
            await asyncio.sleep(4)
            seen.append(world.phase("p"))

        assert seen == ["Pending", "Running", "Running", "Succeeded"]

    played(play, FakeNode(name="n"))


def test_pods_of_other_nodes_are_let_alone() -> None:
    async def play(world: World) -> None:
        world.create("p", node="elsewhere")
        await asyncio.sleep(10)

        assert world.phase("p") == "Pending"

    played(play, FakeNode(name="n"))


def test_a_status_is_written_again_until_the_server_takes_it() -> None:
    async def play(world: World) -> None:
        world.hands.failures = 5
        world.create("p")
        await asyncio.sleep(10)

        assert world.phase("p") == "Running"

    played(play, FakeNode(name="n"))


def test_devices_are_registered_and_a_handshake_is_answered() -> None:
    async def play(world: World) -> None:
        register = world.told("n")[ASCEND.register]
        world.annotate("n", **{ASCEND.handshake: "Requesting_2026-11-30 20:00:02"})
        await asyncio.sleep(31)

        assert "GPU-a" in register
        assert world.told("n")[ASCEND.handshake].startswith("Reported_2026-11-30T20:00:3")

    played(play, gpu_node(ASCEND))


def test_the_plugin_of_nvidia_answers_no_handshake() -> None:
    async def play(world: World) -> None:
        world.annotate("n", **{"hami.io/node-handshake": "Requesting_2026-11-30 20:00:02"})
        await asyncio.sleep(100)

        assert world.told("n")["hami.io/node-handshake"].startswith("Requesting")

    played(play, gpu_node())


def test_a_plugin_that_reports_nothing_leaves_the_handshake_open() -> None:
    async def play(world: World) -> None:
        await world.fleet.order("n", Conduct(is_reporting=False))
        world.annotate("n", **{ASCEND.handshake: "Requesting_2026-11-30 20:00:02"})
        await asyncio.sleep(100)

        assert world.told("n")[ASCEND.handshake].startswith("Requesting")

    played(play, gpu_node(ASCEND))


def bound(work: str) -> dict[str, str]:
    """What a scheduler has written before it binds."""
    return {
        NVIDIA.work: work,
        PHASE: "allocating",
        "hami.io/bind-time": "1",
        "hami.io/vgpu-node": "n",
    }


@pytest.mark.parametrize("is_locked", [True, False])
def test_devices_are_given_with_the_lock_and_without(*, is_locked: bool) -> None:
    async def play(world: World) -> None:
        if is_locked:
            world.annotate("n", **{LOCK: "2026-11-30T20:00:01Z,t,p"})
        world.create("p", 1, 0, 1, **bound("GPU-a,NVIDIA,10,1:;;GPU-b,NVIDIA,10,1:;"))
        await asyncio.sleep(1)

        told = world.pod("p")["metadata"]["annotations"]
        assert world.phase("p") == "Running"
        assert (told[PHASE], told[NVIDIA.work]) == ("success", ";;;")
        assert LOCK not in world.told("n")

    played(play, gpu_node())


def test_the_owner_of_the_lock_gets_the_devices_whoever_is_admitted() -> None:
    async def play(world: World) -> None:
        world.create("owner", 1, node="", **bound("GPU-b,NVIDIA,10,1:;"))
        world.annotate("n", **{LOCK: "2026-11-30T20:00:01Z,t,owner"})
        world.create("p", 1, **bound("GPU-a,NVIDIA,10,1:;"))
        await asyncio.sleep(1)

        assert world.pod("owner")["metadata"]["annotations"][PHASE] == "success"
        assert world.pod("p")["metadata"]["annotations"][PHASE] == "allocating"

    played(play, gpu_node())


def test_a_lock_that_has_changed_meanwhile_is_looked_up_again() -> None:
    async def play(world: World) -> None:
        world.annotate("n", **{LOCK: "2026-11-30T20:00:01Z,t,p"})
        world.create("p", 1, **bound("GPU-a,NVIDIA,10,1:;"))
        await asyncio.sleep(0)
        world.annotate("n", other="told")
        await asyncio.sleep(1)

        assert LOCK not in world.told("n")

    played(play, gpu_node())


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (";", "device request not found"),
        ("GPU-a,NVIDIA,10,1:GPU-b,NVIDIA,10,1:;", "device number not matched"),
        ("GPU-a,NVIDIA,10:;", "missing fields"),
    ],
)
def test_what_cannot_be_given_fails_the_pod_and_frees_the_lock(work: str, why: str) -> None:
    async def play(world: World) -> None:
        world.annotate("n", **{LOCK: "2026-11-30T20:00:01Z,t,p"})
        world.create("p", 1, **bound(work))
        await asyncio.sleep(1)

        assert why in world.pod("p")["status"]["message"]
        assert world.phase("p") == "Failed"
        assert world.pod("p")["metadata"]["annotations"][PHASE] == "failed"
        assert LOCK not in world.told("n")

    played(play, gpu_node())


def test_a_pod_that_nobody_announced_fails() -> None:
    async def play(world: World) -> None:
        world.create("p", 1)
        await asyncio.sleep(1)

        assert world.pod("p")["status"]["message"] == "no binding pod found on node n"

    played(play, gpu_node())


def test_a_silent_plugin_keeps_the_lock_until_it_is_told_to_speak() -> None:
    async def play(world: World) -> None:
        await world.fleet.order("n", Conduct(allocates=Plugin.SILENT))
        world.annotate("n", **{LOCK: "2026-11-30T20:00:01Z,t,p"})
        world.create("p", 1, **bound("GPU-a,NVIDIA,10,1:;"))
        await asyncio.sleep(500)
        waiting = (world.phase("p"), LOCK in world.told("n"))
        await world.fleet.order("n", WELL)
        await asyncio.sleep(1)

        assert waiting == ("Pending", True)
        assert (world.phase("p"), LOCK in world.told("n")) == ("Running", False)

    played(play, gpu_node())


def test_a_slow_plugin_answers_late() -> None:
    async def play(world: World) -> None:
        await world.fleet.order("n", Conduct(allocate_s=20))
        world.create("p", 1, **bound("GPU-a,NVIDIA,10,1:;"))
        await asyncio.sleep(19)
        early = world.phase("p")
        await asyncio.sleep(2)

        assert (early, world.phase("p")) == ("Pending", "Running")

    played(play, gpu_node())


def test_a_failing_plugin_marks_the_pod_and_frees_the_lock() -> None:
    async def play(world: World) -> None:
        world.annotate("n", **{LOCK: "2026-11-30T20:00:01Z,t,p"})
        world.create("p", 1, **bound("GPU-a,NVIDIA,10,1:;"), **{ALLOCATES: "fails"})
        await asyncio.sleep(1)

        assert world.phase("p") == "Failed"
        assert world.pod("p")["metadata"]["annotations"][PHASE] == "failed"
        assert LOCK not in world.told("n")

    played(play, gpu_node())


def test_a_pod_that_is_deleted_is_let_go() -> None:
    async def play(world: World) -> None:
        world.create("p")
        await asyncio.sleep(1)
        going = {"metadata": {"deletionTimestamp": "2026-11-30T20:00:02Z"}}
        world.store.merge(PODS, "t", "p", going)
        await asyncio.sleep(1)

        assert world.store.listed(PODS) == []

    played(play, FakeNode(name="n"))
