"""The controller of profiles over a cluster in memory: what it writes, and what goes wrong on the way."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import replace
from prometheus_client import CollectorRegistry, generate_latest

from springtide.apps.planner.families import Policies, families
from springtide.apps.profiles.controller import Controller
from springtide.apps.profiles.figures import Figures
from springtide.base.taints import Taint
from springtide.edge.cluster import ClusterFault, Conflict, Failing, Target
from springtide.model.occurrence import Occurrence
from tests.loopback import Told
from tests.memorycluster import EVENTS, MemoryCluster
from tests.objectstore import ObjectStore
from tests.profiles import POOL, document
from tests.running import NODES, node_object
from tests.verifying import NOW_S, a_node, cards
from tests.virtual import run

PROFILES = ("springtide.io", "deviceprofiles")


class Calendar:
    """The day of these tests, going on with the loop."""

    def unix_s(self) -> float:
        """Return what time it is."""
        return NOW_S + asyncio.get_running_loop().time()


class Unwilling(MemoryCluster):
    """A cluster whose API server fails when it is told to."""

    def __init__(self) -> None:
        super().__init__(ObjectStore())
        self.faults: list[ClusterFault] = []

    async def taint(self, node: Target, taint: Taint) -> None:
        self._fail()
        await super().taint(node, taint)

    async def patch_status(self, target: Target, status: Mapping[str, Any]) -> str:
        self._fail()
        return await super().patch_status(target, status)

    async def record(self, occurrence: Occurrence) -> None:
        self._fail()
        await super().record(occurrence)

    def _fail(self) -> None:
        if self.faults:
            raise self.faults.pop(0)


class Scene:
    """A cluster with a profile and a node with one card too few, and a controller."""

    def __init__(self) -> None:
        self.cluster = Unwilling()
        self.log = Told()
        made = self.cluster.store.create(NODES, "", node_object("n1", cards(1)))
        metadata = {"labels": POOL}
        self.cluster.store.merge(NODES, "", "n1", {"metadata": metadata})
        self.cluster.store.create(PROFILES, "", document())
        self.controller = Controller(
            self.cluster,
            families(None, Policies()),
            calendar=Calendar(),
            component="tests",
            request_s=1.0,
            log=self.log,
        )
        self.controller.may_act = lambda: True
        node = a_node("n1", cards(1))
        self.controller.node_seen(replace(node, uid=made["metadata"]["uid"]))

    async def after(self, seconds: float) -> None:
        """Let the controller run for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.controller.run()

    def conditions(self) -> dict[str, str]:
        status = self.cluster.store.read(PROFILES, "", "a10").get("status", {})
        return {each["type"]: each["status"] for each in status.get("conditions", [])}

    def taints(self) -> list[str]:
        found = self.cluster.store.read(NODES, "", "n1")["spec"].get("taints") or []
        return [each["key"] for each in found]

    def reasons(self) -> list[tuple[str, int]]:
        found = self.cluster.store.listed(EVENTS)
        return [(each["reason"], each["count"]) for each in found]


def test_what_is_found_out_is_said_on_node_and_profile() -> None:
    scene = Scene()

    run(scene.after(3))

    assert scene.conditions() == {"Valid": "True", "Verified": "False", "Degraded": "True"}
    assert scene.taints() == ["springtide.io/device-mismatch"]
    assert scene.reasons() == [("DeviceProfileMismatch", 1)]
    assert [each["node"] for each in scene.log.of("quarantined")] == ["n1"]


def test_who_may_not_act_says_nothing() -> None:
    scene = Scene()
    scene.controller.may_act = lambda: False

    run(scene.after(5))

    assert scene.conditions() == {}
    assert scene.taints() == []


def test_faults_are_told_and_tried_again() -> None:
    scene = Scene()
    scene.cluster.faults = [Failing("The server is busy.")] * 3

    run(scene.after(20))

    assert scene.controller.performer.failed == 3
    assert len(scene.log.of("command_failed")) == 3
    assert scene.conditions()["Degraded"] == "True"
    assert scene.taints() == ["springtide.io/device-mismatch"]


def test_a_conflict_is_no_fault() -> None:
    scene = Scene()
    scene.cluster.faults = [Conflict("It has changed.")] * 3

    run(scene.after(20))

    assert scene.controller.performer.failed == 0
    assert scene.taints() == ["springtide.io/device-mismatch"]


def test_an_event_that_is_there_is_counted_on() -> None:
    scene = Scene()

    async def twice() -> None:
        await scene.after(3)
        scene.cluster.store.merge(PROFILES, "", "a10", {"status": {"mismatches": []}})
        scene.controller.may_act = lambda: False
        await scene.after(2)
        scene.controller.may_act = lambda: True
        await scene.after(3)

    run(twice())

    assert scene.reasons() == [("DeviceProfileMismatch", 2)]


def test_a_profile_that_cannot_be_read_says_so_and_the_others_go_on() -> None:
    scene = Scene()
    scene.cluster.store.create(PROFILES, "", document("bad", devices=[]))

    run(scene.after(3))

    bad = scene.cluster.store.read(PROFILES, "", "bad")["status"]["conditions"][0]
    assert (bad["type"], bad["status"], bad["reason"]) == ("Valid", "False", "Invalid")
    assert "spec.devices" in bad["message"]
    assert scene.conditions()["Valid"] == "True"


def test_how_nodes_stand_is_measured() -> None:
    scene = Scene()
    registry = CollectorRegistry()
    registry.register(Figures(scene.controller))

    run(scene.after(3))

    text = generate_latest(registry).decode()
    assert 'springtide_profiles_nodes{profile="a10",standing="Mismatch"} 1.0' in text
    assert 'springtide_profiles_outcomes_total{outcome="Mismatch"} 1.0' in text
    assert 'springtide_profiles_differences_total{field="count"} 1.0' in text
    assert "springtide_profiles_commands_failed_total 0.0" in text
