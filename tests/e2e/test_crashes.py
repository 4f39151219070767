"""Our extender killed at each step of a bind, and the API server restarted: nothing is lost or leaked."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from msgspec.structs import replace

from tests.e2e.chokepoint import Chokepoint, Rule, chokepoint
from tests.e2e.commands import Object
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.holdings import agree, cards, locks
from tests.e2e.objects import PODS, phases
from tests.e2e.ours import share_of_a_card
from tests.e2e.replicas import Replica, knows, replica
from tests.e2e.scheduled import (
    CARDS,
    NODES,
    Scheduled,
    all_run,
    empty,
    have_their_own,
    scheduled,
    unlocked,
    whole_card,
)
from tests.e2e.waiting import eventually
from tests.standin.plugin import LOCK

REPLICA_SETS: Final = "/apis/apps/v1/namespaces/default/replicasets"
LOCKING: Final = Rule(method="PATCH", path="/nodes/", says=LOCK)
MARKING: Final = Rule(method="PATCH", path="/pods/", says="allocating")
BINDING: Final = Rule(method="POST", path="/binding")
STEPS: Final = {"locking": LOCKING, "marking": MARKING, "binding": BINDING}

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def around(planes: Planes) -> Iterator[Scheduled]:
    """All that is around our extender."""
    with scheduled(planes) as found:
        yield found


@pytest.fixture(scope="module")
def narrow(around: Scheduled) -> Iterator[Chokepoint]:
    """What our extender reaches the API server through."""
    with chokepoint(around.plane) as found:
        yield found


@pytest.fixture
def plane(around: Scheduled) -> Iterator[ControlPlane]:
    """The control plane, without pods and locks before and after."""
    yield around.plane
    empty(around.plane)
    unlocked(around.plane)


@pytest.fixture
def ours(plane: ControlPlane, narrow: Chokepoint, around: Scheduled) -> Iterator[Replica]:
    """Our extender."""
    with replica(plane, port=around.port, kubeconfig=narrow.kubeconfig) as found:
        yield found


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
    assert have_their_own(plane, *names)
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
    unlocked(plane)
    plane.create(PODS, whole_card("one", node="gpu-a"))
    plane.create(PODS, whole_card("two", node="gpu-a"))
    all_run(plane, "one", "two")
    assert have_their_own(plane, "one", "two")
    assert len(agree(plane, ours)) == CARDS


def test_pods_are_scheduled_after_the_api_server_was_killed_meanwhile(
    plane: ControlPlane, ours: Replica
) -> None:
    count = len(NODES) * CARDS * 2
    pod = share_of_a_card("half", memory_mib=2000, cores=50)
    with replicated(plane, pod, count):
        eventually(lambda: running(plane), bool)

        plane.stop("kube-apiserver", how=signal.SIGKILL)
        plane.start("kube-apiserver")

        # Whom a plugin could not serve meanwhile fails, and another one comes in its place.
        # The controllers ask again later and later while the server is not whole.
        eventually(lambda: running(plane), lambda found: len(found) == count, limit_s=140)
        assert set(agree(plane, ours).values()) == {(2, 4000, 100)}
        assert locks(plane) == {}
