"""Our extender killed at each step of a bind, and the API server restarted: nothing is lost or leaked."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from msgspec.structs import replace

from tests.e2e.chokepoint import Chokepoint, Rule, chokepoint
from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import running_fleet
from tests.e2e.holdings import agree, cards, locks
from tests.e2e.objects import PODS, phases
from tests.e2e.ours import configured, free_port, share_of_a_card
from tests.e2e.replicas import Replica, knows, replica
from tests.e2e.waiting import eventually
from tests.standin.live import gpu_node
from tests.standin.plugin import LOCK

NODES: Final = ("gpu-a", "gpu-b")
CARDS: Final = 2
REPLICA_SETS: Final = "/apis/apps/v1/namespaces/default/replicasets"

LOCKING: Final = Rule(method="PATCH", path="/nodes/", says=LOCK)
MARKING: Final = Rule(method="PATCH", path="/pods/", says="allocating")
BINDING: Final = Rule(method="POST", path="/binding")
STEPS: Final = {"locking": LOCKING, "marking": MARKING, "binding": BINDING}

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def port() -> int:
    """Return where kube-scheduler looks for our extender."""
    return free_port()


@pytest.fixture(scope="module")
def whole(planes: Planes, port: int) -> Iterator[ControlPlane]:
    """A whole control plane with nodes that have cards."""
    plane = planes(Setup(has_controllers=True, extenders=(configured(port),)))
    with running_fleet(plane, [gpu_node(name, cards=CARDS) for name in NODES]):
        yield plane


@pytest.fixture
def plane(whole: ControlPlane) -> Iterator[ControlPlane]:
    """It, without pods and locks afterwards."""
    yield whole
    whole.ask("DELETE", PODS, {"gracePeriodSeconds": 0})
    eventually(lambda: (phases(whole), locks(whole)), lambda found: found == ({}, {}))


@pytest.fixture(scope="module")
def narrow(whole: ControlPlane) -> Iterator[Chokepoint]:
    """What our extender reaches the API server through."""
    with chokepoint(whole) as found:
        yield found


@pytest.fixture
def ours(plane: ControlPlane, narrow: Chokepoint, port: int) -> Iterator[Replica]:
    """Our extender."""
    with replica(plane, port=port, kubeconfig=narrow.kubeconfig) as found:
        yield found


def whole_card(name: str, *, node: str = "") -> Object:
    """Return a pod that shares its card with nobody, wherever or on a node."""
    pod = share_of_a_card(name, memory_mib=2000, cores=100)
    if node:
        pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    return pod


def all_run(plane: ControlPlane, *names: str) -> None:
    """Wait until these pods run, and no others are there."""
    eventually(lambda: phases(plane), lambda found: found == dict.fromkeys(names, "Running"))


def of_their_own(plane: ControlPlane, *names: str) -> bool:
    """Return whether each of these pods has a card, and none is another's."""
    given = [card for name in names for card in cards(plane, f"{PODS}/{name}")]
    return len(set(given)) == len(given) == len(names)


def running(plane: ControlPlane) -> list[str]:
    """Return the pods that run."""
    return [name for name, phase in phases(plane).items() if phase == "Running"]


@contextmanager
def replicated(plane: ControlPlane, pod: Object, count: int) -> Iterator[None]:
    """Have so many of a pod kept while the block is entered."""
    labels = {"app": "load"}
    template = {"metadata": {"labels": labels}, "spec": pod["spec"]}
    spec = {"replicas": count, "selector": {"matchLabels": labels}, "template": template}
    plane.create(REPLICA_SETS, {"metadata": {"name": "load"}, "spec": spec})
    try:
        yield
    finally:
        plane.ask("DELETE", f"{REPLICA_SETS}/load", {"propagationPolicy": "Orphan"})
        # Orphans are let go of before the set itself is gone.
        eventually(lambda: plane.ask("GET", REPLICA_SETS)["items"], lambda found: found == [])


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_in_a_bind_loses_and_leaks_nothing(
    step: str, when: str, plane: ControlPlane, narrow: Chokepoint, ours: Replica
) -> None:
    names = ("one", "two", "three")
    held = narrow.hold(replace(STEPS[step], is_answered=when == "after"))
    for name in names:
        plane.create(PODS, whole_card(name))
    held.wait()

    ours.kill()
    held.drop()
    ours.start()

    all_run(plane, *names)
    assert of_their_own(plane, *names)
    assert len(agree(plane, ours)) == len(names)
    assert locks(plane) == {}


def test_the_lock_of_a_pod_that_is_gone_is_taken_over(
    plane: ControlPlane, narrow: Chokepoint, ours: Replica
) -> None:
    held = narrow.hold(replace(LOCKING, is_answered=True))
    plane.create(PODS, whole_card("gone", node="gpu-a"))
    held.wait()
    ours.kill()
    held.drop()
    plane.ask("DELETE", f"{PODS}/gone", {"gracePeriodSeconds": 0})
    assert locks(plane)["gpu-a"].endswith(",default,gone")

    ours.start()
    plane.create(PODS, whole_card("next", node="gpu-a"))

    all_run(plane, "next")
    assert set(agree(plane, ours)) == set(cards(plane, f"{PODS}/next"))
    assert locks(plane) == {}


def test_a_pod_that_is_deleted_in_its_bind_gives_its_devices_back(
    plane: ControlPlane, narrow: Chokepoint, ours: Replica
) -> None:
    held = narrow.hold(BINDING)
    plane.create(PODS, whole_card("going", node="gpu-a"))
    held.wait()

    plane.ask("DELETE", f"{PODS}/going", {"gracePeriodSeconds": 0})
    held.go()

    knows(ours, reservations_held=0, binds_waiting=0)
    eventually(lambda: locks(plane), lambda found: found == {})
    plane.create(PODS, whole_card("one", node="gpu-a"))
    plane.create(PODS, whole_card("two", node="gpu-a"))
    all_run(plane, "one", "two")
    assert of_their_own(plane, "one", "two")
    assert len(agree(plane, ours)) == CARDS


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_pods_are_scheduled_after_the_api_server_was_restarted_meanwhile(
    how: signal.Signals, plane: ControlPlane, ours: Replica
) -> None:
    count = len(NODES) * CARDS * 2
    pod = share_of_a_card("half", memory_mib=2000, cores=50)
    with replicated(plane, pod, count):
        eventually(lambda: running(plane), bool)

        plane.stop("kube-apiserver", how=how)
        plane.start("kube-apiserver")

        # Whom a plugin could not serve meanwhile fails, and another one comes in its place.
        eventually(lambda: running(plane), lambda found: len(found) == count)
        assert set(agree(plane, ours).values()) == {(2, 4000, 100)}
        assert locks(plane) == {}
