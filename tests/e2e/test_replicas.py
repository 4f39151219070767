"""Two replicas that elect their leader: one of them decides, and the other one goes on where it ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.doors import REPLICAS, door, roles
from tests.e2e.fleets import running_fleet
from tests.e2e.holdings import agree
from tests.e2e.objects import PODS
from tests.e2e.ours import configured
from tests.e2e.replicas import Replica, replica
from tests.e2e.rights import ACCOUNT, grant
from tests.e2e.scheduled import CARDS, NODES, all_run, empty, have_their_own, unlocked, whole_card
from tests.e2e.waiting import eventually
from tests.standin.live import gpu_node

FIRST, SECOND = "extender-a", "extender-b"
COMPONENT: Final = {"app.kubernetes.io/component": "hami-scheduler"}
LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
ELECTION: Final = {
    "enabled": True,
    "own": True,
    "namespace": "kube-system",
    "name": "hami-scheduler",
}
LEASE_S: Final = 15.0
RETRY_S: Final = 2.0
AT_ONCE_S: Final = 5.0
SLACK_S: Final = 5.0
"""For machines that are busy with other tests."""

pytestmark = pytest.mark.timeout(180)

Running = dict[str, Replica]


@pytest.fixture(scope="module")
def running() -> Running:
    """The replicas by their pods, as long as they run."""
    return {}


@pytest.fixture(scope="module")
def whole(planes: Planes, running: Running) -> Iterator[ControlPlane]:
    """A control plane whose scheduler asks the leader, and the pods that replicas run in."""
    started: list[ControlPlane] = []

    def leader() -> int | None:
        led = [name for name, role in roles(started[0]).items() if role == "leader"]
        return running[led[0]].port if len(led) == 1 and led[0] in running else None

    with door(leader) as found:
        extenders = (configured(found.port),)
        plane = planes(Setup(has_controllers=True, extenders=extenders, users=ACCOUNT))
        started.append(plane)
        grant(plane)
        for name in (FIRST, SECOND):
            plane.create(REPLICAS, own_pod(name))
        with running_fleet(plane, [gpu_node(name, cards=CARDS) for name in NODES]):
            yield plane


def own_pod(name: str) -> Object:
    """Return a pod that stands for a replica; no kubelet runs it."""
    container = {"name": "extender", "image": "registry.invalid/springtide:1"}
    spec = {"schedulerName": "none", "containers": [container]}
    return {"metadata": {"name": name, "labels": COMPONENT}, "spec": spec}


@pytest.fixture
def plane(whole: ControlPlane) -> Iterator[ControlPlane]:
    """It, without work and leader before and after."""
    yield whole
    empty(whole)
    unlocked(whole)
    whole.ask("DELETE", f"{LEASES}/{ELECTION['name']}")


@contextmanager
def standing(plane: ControlPlane, running: Running, name: str) -> Iterator[Replica]:
    """Let a replica stand for the lease as long as the block."""
    with replica(plane, name, {"leaderElection": ELECTION}, pod=name) as found:
        running[name] = found
        yield found


def have(plane: ControlPlane, first: str, second: str, *, limit_s: float = 30.0) -> None:
    """Wait until the replicas have these roles."""
    wanted = {FIRST: first, SECOND: second}
    eventually(lambda: roles(plane), lambda found: found == wanted, limit_s=limit_s)


def asked(found: Replica, pod: Any) -> Any:
    """Return what a replica answers about a pod."""
    return found.post("/filter", {"Pod": pod, "Nodes": None, "NodeNames": list(NODES)})


@pytest.mark.parametrize(
    ("end", "limit_s"),
    [
        (lambda first: first.kill(), LEASE_S + RETRY_S),
        (lambda first: first.end(), AT_ONCE_S),
    ],
    ids=["killed", "ended"],
)
def test_the_other_replica_goes_on(
    end: Callable[[Replica], object],
    limit_s: float,
    plane: ControlPlane,
    running: Running,
) -> None:
    names = ("one", "two", "three", "four")
    with standing(plane, running, FIRST) as first:
        eventually(lambda: roles(plane).get(FIRST), lambda found: found == "leader")
        with standing(plane, running, SECOND) as second:
            have(plane, "leader", "follower")
            early = [plane.create(PODS, whole_card(name)) for name in names[:2]]
            all_run(plane, *names[:2])
            before = asked(second, early[0])

            code = end(first)
            for name in names[2:]:
                plane.create(PODS, whole_card(name))

            have(plane, "follower", "leader", limit_s=limit_s + SLACK_S)
            all_run(plane, *names)
            assert code in {None, 0}
            assert "does not lead" in before["Error"]
            assert have_their_own(plane, *names)
            assert len(agree(plane, second)) == len(names)
