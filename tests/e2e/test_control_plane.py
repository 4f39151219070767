"""The control plane itself: it starts, keeps fake nodes, runs pods on them, and outlives restarts."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import RunningFleet, running_fleet
from tests.e2e.objects import NODES, PODS, a_pod, phases, readiness
from tests.e2e.waiting import eventually
from tests.standin.bodies import FakeNode
from tests.standin.conduct import EXIT_CODE, RUN_S, WELL, Conduct
from tools.controlplane.build import KUBERNETES

NAMES = [f"node-{number:02}" for number in range(50)]
TAKEN_AFTER_S = 6
THREADS = 8

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def plane(planes: Planes) -> ControlPlane:
    """A whole control plane that is quick to give up on a node."""
    return planes(Setup(has_controllers=True, grace_s=TAKEN_AFTER_S))


@pytest.fixture(scope="module")
def fleet(plane: ControlPlane) -> Iterator[RunningFleet]:
    """Fifty nodes of it, ready."""
    with running_fleet(plane, [FakeNode(name=name) for name in NAMES]) as running:
        eventually(lambda: readiness(plane), lambda found: found == dict.fromkeys(NAMES, "True"))
        yield running


@pytest.fixture
def nodes(plane: ControlPlane, fleet: RunningFleet) -> Iterator[RunningFleet]:
    """The nodes, which have no pods afterwards."""
    yield fleet
    plane.ask("DELETE", PODS, {"gracePeriodSeconds": 0})
    eventually(lambda: phases(plane), lambda found: not found)


def create(plane: ControlPlane, *pods: dict[str, object]) -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        for _ in threads.map(lambda each: plane.create(PODS, each), pods):
            pass


def test_every_program_is_ready_and_of_the_version_that_is_meant(plane: ControlPlane) -> None:
    found = plane.ask("GET", "/version")

    assert found["gitVersion"] == f"v{KUBERNETES}"
    assert len(plane.processes.names) == 4


def test_fifty_nodes_are_ready(plane: ControlPlane, nodes: RunningFleet) -> None:
    assert readiness(plane) == dict.fromkeys(NAMES, "True")


def test_two_hundred_pods_are_bound_and_run(plane: ControlPlane, nodes: RunningFleet) -> None:
    create(plane, *(a_pod(f"p-{number:03}") for number in range(200)))

    found = eventually(
        lambda: phases(plane), lambda found: set(found.values()) == {"Running"}, limit_s=90
    )

    assert len(found) == 200


def test_pods_end_as_they_are_told_to(plane: ControlPlane, nodes: RunningFleet) -> None:
    well = a_pod("well", annotations={RUN_S: "0.2"}, restartPolicy="Never")
    badly = a_pod("badly", annotations={RUN_S: "0", EXIT_CODE: "3"}, restartPolicy="Never")
    create(plane, well, badly, a_pod("on", restartPolicy="Never"))

    found = eventually(
        lambda: phases(plane),
        lambda found: sorted(found.values()) == ["Failed", "Running", "Succeeded"],
    )

    assert found == {"well": "Succeeded", "badly": "Failed", "on": "Running"}
    status = plane.ask("GET", f"{PODS}/badly")["status"]
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3


def test_a_pod_that_is_deleted_goes_when_its_kubelet_lets_it(
    plane: ControlPlane, nodes: RunningFleet
) -> None:
    create(plane, a_pod("going"))
    eventually(lambda: phases(plane), lambda found: found == {"going": "Running"})

    plane.ask("DELETE", f"{PODS}/going", {"gracePeriodSeconds": 30})

    assert eventually(lambda: phases(plane), lambda found: not found, limit_s=15) == {}


def test_a_silent_node_is_given_up_and_taken_back(plane: ControlPlane, nodes: RunningFleet) -> None:
    nodes.order("node-07", Conduct(is_silent=True))

    given_up = eventually(lambda: readiness(plane), lambda found: found["node-07"] != "True")
    nodes.order("node-07", WELL)
    taken_back = eventually(lambda: readiness(plane), lambda found: found["node-07"] == "True")

    assert given_up["node-07"] == "Unknown"
    assert [name for name, is_ready in given_up.items() if is_ready != "True"] == ["node-07"]
    assert set(taken_back) == set(NAMES)


def test_a_deleted_node_comes_back(plane: ControlPlane, nodes: RunningFleet) -> None:
    plane.ask("DELETE", f"{NODES}/node-09")
    eventually(lambda: readiness(plane), lambda found: "node-09" not in found)

    nodes.join("node-09")

    found = eventually(lambda: readiness(plane), lambda found: found.get("node-09") == "True")
    assert set(found) == set(NAMES)


def test_nodes_and_pods_outlive_a_restart_of_the_api_server(
    plane: ControlPlane, nodes: RunningFleet
) -> None:
    create(plane, a_pod("before"))
    eventually(lambda: phases(plane), lambda found: found == {"before": "Running"})

    plane.stop("kube-apiserver")
    plane.start("kube-apiserver")
    create(plane, a_pod("after"))

    found = eventually(lambda: phases(plane), lambda found: found.get("after") == "Running")
    assert found == {"before": "Running", "after": "Running"}
    eventually(lambda: set(readiness(plane).values()), lambda found: found == {"True"})
