"""A control plane whose kube-scheduler asks our extender, nodes with cards, and pods that ask for cards."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import RunningFleet, running_fleet
from tests.e2e.holdings import cards, locks
from tests.e2e.objects import PODS, phases
from tests.e2e.ours import configured, free_port, share_of_a_card
from tests.e2e.rights import ACCOUNT, grant
from tests.e2e.waiting import eventually
from tests.standin.live import gpu_node

NODES: Final = ("gpu-a", "gpu-b")
CARDS: Final = 2
PROMPT_S: Final = 25.0
"""Less than a bind waits for a node's lock; several of kube-scheduler's backoffs."""


class Scheduled(msgspec.Struct, frozen=True, kw_only=True):
    """The plane, where its scheduler looks for our extender, and the nodes."""

    plane: ControlPlane
    port: int
    fleet: RunningFleet


@contextmanager
def scheduled(planes: Planes) -> Iterator[Scheduled]:
    """Run all of it but the extender as long as the block."""
    port = free_port()
    plane = planes(Setup(has_controllers=True, extenders=(configured(port),), users=ACCOUNT))
    grant(plane)
    with running_fleet(plane, [gpu_node(name, cards=CARDS) for name in NODES]) as fleet:
        yield Scheduled(plane=plane, port=port, fleet=fleet)


def empty(plane: ControlPlane) -> None:
    """Delete all pods, and wait until they and the locks of nodes are gone."""
    plane.ask("DELETE", PODS, {"gracePeriodSeconds": 0})
    eventually(lambda: phases(plane), lambda found: found == {})


def whole_card(name: str, *, node: str = "", annotations: dict[str, str] | None = None) -> Object:
    """Return a pod that shares its card with nobody, wherever or on a node."""
    pod = share_of_a_card(name, memory_mib=2000, cores=100)
    pod["metadata"]["annotations"] = annotations or {}
    if node:
        pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    return pod


def all_run(plane: ControlPlane, *names: str) -> None:
    """Wait until these pods run, and no others are there; no bind may wait for long meanwhile."""
    wanted = dict.fromkeys(names, "Running")
    eventually(lambda: phases(plane), lambda found: found == wanted, limit_s=PROMPT_S)


def have_their_own(plane: ControlPlane, *names: str) -> bool:
    """Return whether each of these pods has a card, and none is another's."""
    given = [card for name in names for card in cards(plane, f"{PODS}/{name}")]
    return len(set(given)) == len(given) == len(names)


def unlocked(plane: ControlPlane) -> None:
    """Wait until no node is locked."""
    eventually(lambda: locks(plane), lambda found: found == {})


def node_of(plane: ControlPlane, name: str) -> str:
    """Return the node that a pod is on."""
    return str(plane.ask("GET", f"{PODS}/{name}")["spec"].get("nodeName", ""))


def phase_of(plane: ControlPlane, path: str) -> str:
    """Return the phase of one pod."""
    return str(plane.ask("GET", path)["status"]["phase"])


def said(plane: ControlPlane, name: str, *, namespace: str = "default") -> str:
    """Return what kube-scheduler says about a pod that it cannot place."""
    events = plane.ask("GET", f"/api/v1/namespaces/{namespace}/events")["items"]
    return " ".join(
        each.get("message", "")
        for each in events
        if (each["reason"], each["involvedObject"]["name"]) == ("FailedScheduling", name)
    )


def refused(plane: ControlPlane, name: str, reason: str, *, namespace: str = "default") -> None:
    """Wait until kube-scheduler has told a pod this reason of ours."""
    eventually(lambda: said(plane, name, namespace=namespace), lambda found: reason in found)
