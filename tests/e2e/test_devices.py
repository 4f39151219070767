"""Whose devices they are when things go wrong: quotas, silent plugins, nodes that go, pods that end badly."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import pytest

from tests.e2e.commands import Object, Setup, write_scheduler_configuration
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import RunningFleet
from tests.e2e.holdings import agree, cards, locks
from tests.e2e.objects import NODES, PODS, annotations, phases, readiness
from tests.e2e.ours import configured
from tests.e2e.replicas import Replica, knows, replica
from tests.e2e.scheduled import (
    CARDS,
    Scheduled,
    all_run,
    empty,
    have_their_own,
    node_of,
    phase_of,
    refused,
    scheduled,
    unlocked,
    whole_card,
)
from tests.e2e.waiting import eventually
from tests.standin.conduct import ALLOCATES, EXIT_CODE, RUN_S, WELL, Conduct, Plugin
from tests.standin.live import SHARES, now

NODE: Final = "gpu-a"
MERGE: Final = "application/merge-patch+json"
HANDSHAKE: Final = "hami.io/node-handshake"
HANDSHAKE_S: Final = 60
LEFT_S: Final = 4
SILENT: Final = {ALLOCATES: Plugin.SILENT.value}
COUNTED: Final = CARDS * SHARES

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def around(planes: Planes) -> Iterator[Scheduled]:
    """All that is around our extender."""
    with scheduled(planes) as found:
        yield found


@pytest.fixture
def fleet(around: Scheduled) -> Iterator[RunningFleet]:
    """The nodes, which are well before and after."""
    yield around.fleet
    around.fleet.order(NODE, WELL)


@pytest.fixture
def plane(around: Scheduled, fleet: RunningFleet) -> Iterator[ControlPlane]:
    """The control plane, without pods and locks before and after."""
    yield around.plane
    empty(around.plane)
    note(around.plane, **{"hami.io/mutex.lock": None})
    unlocked(around.plane)


@pytest.fixture
def ours(plane: ControlPlane, around: Scheduled) -> Iterator[Replica]:
    """Our extender."""
    with replica(plane, port=around.port) as found:
        yield found


def note(plane: ControlPlane, **annotations: str | None) -> None:
    """Write annotations on the node."""
    body = {"metadata": {"annotations": annotations}}
    plane.ask("PATCH", f"{NODES}/{NODE}", body, content_type=MERGE)


def count(plane: ControlPlane, cards: int) -> None:
    """Let the kubelet of the node count so many devices."""
    amounts = {"nvidia.com/gpu": str(cards)}
    body = {"status": {"capacity": amounts, "allocatable": amounts}}
    plane.ask("PATCH", f"{NODES}/{NODE}/status", body, content_type=MERGE)


def test_a_quota_of_devices_keeps_a_pod_waiting_until_another_one_ends(
    plane: ControlPlane, ours: Replica
) -> None:
    pods = "/api/v1/namespaces/limited/pods"
    plane.create("/api/v1/namespaces", {"metadata": {"name": "limited"}})
    quota = {"metadata": {"name": "cards"}, "spec": {"hard": {"limits.nvidia.com/gpumem": "3000"}}}
    plane.create("/api/v1/namespaces/limited/resourcequotas", quota)
    eventually(lambda: ours.figures("hami_resource_quota_limit"), bool)

    plane.create(pods, whole_card("within"))
    eventually(lambda: phase_of(plane, f"{pods}/within"), lambda found: found == "Running")
    plane.create(pods, whole_card("beyond"))
    refused(plane, "beyond", "ResourceQuotaNotFit", namespace="limited")
    waiting = plane.ask("GET", f"{pods}/beyond")
    plane.ask("DELETE", f"{pods}/within", {"gracePeriodSeconds": 0})

    assert waiting["spec"].get("nodeName") is None
    eventually(lambda: phase_of(plane, f"{pods}/beyond"), lambda found: found == "Running")
    assert set(agree(plane, ours)) == set(cards(plane, f"{pods}/beyond"))
    plane.ask("DELETE", f"{pods}/beyond", {"gracePeriodSeconds": 0})
    eventually(lambda: plane.ask("GET", pods)["items"], lambda found: found == [])


def test_a_scheduler_that_sends_whole_nodes_gets_real_allocations(
    around: Scheduled, plane: ControlPlane, ours: Replica
) -> None:
    names = ("one", "two", "three", "four")
    with asked_with(plane, {**configured(around.port), "nodeCacheCapable": False}):
        for name in names:
            plane.create(PODS, whole_card(name))
        all_run(plane, *names)
        plane.create(PODS, whole_card("beyond"))
        refused(plane, "beyond", "CardInsufficientCore")

    assert have_their_own(plane, *names)
    assert len(agree(plane, ours)) == len(names)


@contextmanager
def asked_with(plane: ControlPlane, extender: Object) -> Iterator[None]:
    """Let kube-scheduler be configured like this as long as the block."""
    before = plane.site.file("scheduler-config.json").read_text(encoding="utf-8")
    write_scheduler_configuration(plane.site, Setup(has_controllers=True, extenders=(extender,)))
    again(plane)
    try:
        yield
    finally:
        plane.site.file("scheduler-config.json").write_text(before, encoding="utf-8")
        again(plane)


def again(plane: ControlPlane) -> None:
    """Start kube-scheduler again."""
    plane.stop("kube-scheduler")
    plane.start("kube-scheduler")


def test_a_node_that_comes_back_still_has_its_pods(
    plane: ControlPlane, fleet: RunningFleet, ours: Replica
) -> None:
    plane.create(PODS, whole_card("kept", node=NODE))
    all_run(plane, "kept")

    plane.ask("DELETE", f"{NODES}/{NODE}")
    eventually(lambda: registered(ours), lambda found: found == 0)
    plane.create(PODS, whole_card("late", node=NODE))
    refused(plane, "late", "0/1 nodes are available")
    fleet.join(NODE)

    eventually(lambda: readiness(plane), lambda found: found.get(NODE) == "True")
    all_run(plane, "kept", "late")
    assert have_their_own(plane, "kept", "late")
    assert len(agree(plane, ours)) == CARDS


def registered(ours: Replica) -> int:
    """Return how many cards of the node our extender knows."""
    found = ours.figures("hami_gpu_memory_limit_bytes")
    return sum(labels["node"] == NODE for labels, _ in found)


def test_the_lock_of_a_pod_whose_plugin_is_silent_runs_out(
    plane: ControlPlane, fleet: RunningFleet, ours: Replica
) -> None:
    ours.kill()
    ours.configure({"nodeLockTimeout": f"{LEFT_S}s"})
    ours.start()
    fleet.order(NODE, Conduct(allocates=Plugin.SILENT))
    plane.create(PODS, whole_card("stuck", node=NODE))
    eventually(lambda: node_of(plane, "stuck"), lambda found: found == NODE)

    plane.create(PODS, whole_card("next", node=NODE))
    eventually(lambda: node_of(plane, "next"), lambda found: found == NODE)

    # Its kubelet admits one pod after the other, so both wait for the plugin now.
    assert locks(plane)[NODE].endswith(",default,next")
    assert have_their_own(plane, "stuck", "next")
    assert len(agree(plane, ours)) == CARDS


def test_a_pod_that_is_deleted_while_it_waits_for_its_bind_gives_its_devices_back(
    plane: ControlPlane, ours: Replica
) -> None:
    plane.create(PODS, whole_card("stuck", node=NODE, annotations=SILENT))
    eventually(lambda: node_of(plane, "stuck"), lambda found: found == NODE)
    plane.create(PODS, whole_card("going", node=NODE))
    knows(ours, binds_waiting=1, reservations_held=1)

    plane.ask("DELETE", f"{PODS}/going", {"gracePeriodSeconds": 0})

    knows(ours, binds_waiting=0, reservations_held=0)
    assert set(agree(plane, ours)) == set(cards(plane, f"{PODS}/stuck"))


@pytest.mark.parametrize(
    "badly",
    [{RUN_S: "0", EXIT_CODE: "3"}, {ALLOCATES: Plugin.FAILS.value}],
    ids=["run", "allocation"],
)
def test_a_pod_that_fails_gives_its_devices_back(
    badly: dict[str, str], plane: ControlPlane, ours: Replica
) -> None:
    for name in ("bad", "worse"):
        pod = whole_card(name, node=NODE, annotations=badly)
        pod["spec"]["restartPolicy"] = "Never"
        plane.create(PODS, pod)
    eventually(lambda: phases(plane), lambda found: found == {"bad": "Failed", "worse": "Failed"})

    for name in ("one", "two"):
        plane.create(PODS, whole_card(name, node=NODE))

    eventually(lambda: list(phases(plane).values()).count("Running"), lambda found: found == CARDS)
    assert have_their_own(plane, "one", "two")
    assert len(agree(plane, ours)) == CARDS
    unlocked(plane)


def test_devices_are_gone_when_their_plugin_has_answered_no_handshake_in_time(
    plane: ControlPlane, fleet: RunningFleet, ours: Replica
) -> None:
    ours.kill()
    fleet.order(NODE, Conduct(is_reporting=False))
    count(plane, 0)
    note(plane, **{HANDSHAKE: None})
    ours.start()
    eventually(lambda: told(plane), lambda found: found.startswith("Requesting_"))
    before = registered(ours)

    # As if it had been asked longer ago.
    asked = (now() - timedelta(seconds=HANDSHAKE_S - LEFT_S)).astimezone()
    note(plane, **{HANDSHAKE: f"Requesting_{asked:%Y-%m-%d %H:%M:%S}"})
    eventually(lambda: registered(ours), lambda found: found == 0)
    plane.create(PODS, whole_card("late", node=NODE))
    refused(plane, "late", "node unregistered")
    count(plane, COUNTED)

    assert before == CARDS
    all_run(plane, "late")
    assert len(agree(plane, ours)) == 1


def told(plane: ControlPlane) -> str:
    """Return what the handshake of the node says."""
    return annotations(plane, f"{NODES}/{NODE}").get(HANDSHAKE, "")
