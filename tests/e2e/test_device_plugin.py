"""The stand-in for HAMi's device plugin on a real API server, the scheduler's part played by hand."""

from collections.abc import Iterator

import pytest

from springtide.wire.hami import register
from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import RunningFleet, running_fleet
from tests.e2e.objects import NODES, PODS, a_pod, annotations, phases
from tests.e2e.waiting import eventually
from tests.standin.conduct import ALLOCATES, WELL, Conduct, Plugin
from tests.standin.live import gpu_node, now
from tests.standin.plugin import LOCK, NVIDIA

NODE = "gpu-1"
ALLOCATED = "hami.io/vgpu-devices-allocated"
PHASE = "hami.io/bind-phase"
MERGE = "application/merge-patch+json"

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def plane(planes: Planes) -> ControlPlane:
    """A server without scheduler: pods are bound by hand."""
    return planes(Setup())


@pytest.fixture(scope="module")
def fleet(plane: ControlPlane) -> Iterator[RunningFleet]:
    """One node with cards."""
    with running_fleet(plane, [gpu_node(NODE)], beat_s=0.2) as running:
        yield running


@pytest.fixture
def node(plane: ControlPlane, fleet: RunningFleet) -> Iterator[RunningFleet]:
    """The node, without pods and unlocked afterwards, and registered before."""
    fleet.order(NODE, WELL)
    eventually(lambda: told(plane), lambda found: NVIDIA.register in found)
    yield fleet
    fleet.order(NODE, WELL)
    plane.ask("DELETE", PODS, {"gracePeriodSeconds": 0})
    lock(plane, None)
    eventually(lambda: phases(plane), lambda found: not found)


def told(plane: ControlPlane) -> dict[str, str]:
    """What is written on the node; nothing before it is there."""
    listed = plane.ask("GET", NODES)["items"]
    return listed[0]["metadata"].get("annotations", {}) if listed else {}


def lock(plane: ControlPlane, value: str | None) -> None:
    body = {"metadata": {"annotations": {LOCK: value}}}
    plane.ask("PATCH", f"{NODES}/{NODE}", body, content_type=MERGE)


def bind(plane: ControlPlane, pod: Object, devices: str) -> None:
    """Do what a scheduler does: reserve, lock the node, announce, bind."""
    name, when = pod["metadata"]["name"], now()
    written = {
        "hami.io/vgpu-node": NODE,
        "hami.io/bind-time": str(int(when.timestamp())),
        PHASE: "allocating",
        NVIDIA.work: devices,
        ALLOCATED: devices,
    }
    pod["metadata"]["annotations"] |= written
    plane.create(PODS, pod)
    lock(plane, f"{when:%Y-%m-%dT%H:%M:%SZ},default,{name}")
    target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    plane.create(f"{PODS}/{name}/binding", body)


def asking(name: str, *counts: int, **annotations: str) -> Object:
    limits = tuple({NVIDIA.resource: str(count)} if count else {} for count in counts)
    return a_pod(name, annotations=dict(annotations), limits=limits)


def test_the_node_registers_its_cards(plane: ControlPlane, node: RunningFleet) -> None:
    found = register.decode(told(plane)[NVIDIA.register])

    assert found == gpu_node(NODE).devices[0].devices


def test_every_container_gets_its_cards_and_the_lock_is_freed(
    plane: ControlPlane, node: RunningFleet
) -> None:
    devices = ";GPU-a,NVIDIA,1000,10:GPU-b,NVIDIA,1000,10:;GPU-c,NVIDIA,500,0:;"

    bind(plane, asking("three", 0, 2, 1), devices)
    eventually(lambda: phases(plane), lambda found: found == {"three": "Running"})

    found = annotations(plane, f"{PODS}/three")
    assert (found[PHASE], found[NVIDIA.work], found[ALLOCATED]) == ("success", ";;;", devices)
    assert LOCK not in told(plane)


def test_a_count_that_does_not_match_fails_the_pod_and_frees_the_lock(
    plane: ControlPlane, node: RunningFleet
) -> None:
    bind(plane, asking("pair", 2), "GPU-a,NVIDIA,1000,10:;")
    eventually(lambda: phases(plane), lambda found: found == {"pair": "Failed"})

    status = plane.ask("GET", f"{PODS}/pair")["status"]
    assert (status["reason"], status["message"]) == (
        "UnexpectedAdmissionError",
        "device number not matched",
    )
    assert annotations(plane, f"{PODS}/pair")[PHASE] == "failed"
    assert LOCK not in told(plane)


def test_a_plugin_that_fails_as_ordered_frees_the_lock(
    plane: ControlPlane, node: RunningFleet
) -> None:
    bind(plane, asking("luckless", 1, **{ALLOCATES: Plugin.FAILS}), "GPU-a,NVIDIA,1000,10:;")

    eventually(lambda: phases(plane), lambda found: found == {"luckless": "Failed"})

    assert annotations(plane, f"{PODS}/luckless")[PHASE] == "failed"
    assert LOCK not in told(plane)


def test_a_plugin_that_never_answers_keeps_the_lock_and_those_behind_it(
    plane: ControlPlane, node: RunningFleet
) -> None:
    node.order(NODE, Conduct(allocates=Plugin.SILENT))
    bind(plane, asking("first", 1), "GPU-a,NVIDIA,1000,10:;")
    plane.create(PODS, a_pod("second", nodeName=NODE))
    plane.create(PODS, a_pod("third"))

    plane.ask("DELETE", f"{PODS}/third", {"gracePeriodSeconds": 0})
    eventually(lambda: phases(plane), lambda found: "third" not in found)
    waiting = phases(plane)
    kept = told(plane)[LOCK]
    node.order(NODE, WELL)

    found = eventually(lambda: phases(plane), lambda found: set(found.values()) == {"Running"})
    assert waiting == {"first": "Pending", "second": "Pending"}
    assert kept.endswith(",default,first")
    assert set(found) == {"first", "second"}


def test_what_others_write_over_the_registration_is_mended(
    plane: ControlPlane, node: RunningFleet
) -> None:
    body = {"metadata": {"annotations": {NVIDIA.register: None}}}
    right = told(plane)[NVIDIA.register]

    plane.ask("PATCH", f"{NODES}/{NODE}", body, content_type=MERGE)

    found = eventually(lambda: told(plane), lambda found: NVIDIA.register in found)
    assert found[NVIDIA.register] == right
