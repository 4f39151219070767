"""Who holds which devices, by two accounts that must agree: the pods' annotations, and our metrics."""

from collections import defaultdict
from typing import Any, Final

from springtide.wire.hami import containers
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import NODES
from tests.e2e.replicas import Replica
from tests.e2e.waiting import eventually
from tests.standin.plugin import LOCK

ALL_PODS: Final = "/api/v1/pods"
ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
NODE: Final = "hami.io/vgpu-node"
MIB: Final = 1 << 20
_BY_US: Final = {
    "hami_gpu_shared_count": 1,
    "hami_gpu_memory_allocated_bytes": MIB,
    "hami_gpu_core_allocated_ratio": 1,
}

Use = tuple[int, int, int]
"""How many pods hold a card, and how much memory in MiB and how many cores all of them hold."""


def written(plane: ControlPlane) -> dict[str, Use]:
    """Return the use of each card that pods on nodes have, by what is written on them."""
    found: dict[str, Use] = defaultdict(lambda: (0, 0, 0))
    for pod in plane.ask("GET", ALL_PODS)["items"]:
        if pod["spec"].get("nodeName") and pod["status"]["phase"] not in ("Succeeded", "Failed"):
            for grant in _grants(pod):
                count, memory_mib, cores = found[grant.device_id]
                found[grant.device_id] = (
                    count + 1,
                    memory_mib + grant.memory_mib,
                    cores + grant.cores,
                )
    return dict(found)


def charged(replica: Replica) -> dict[str, Use]:
    """Return the use of each card that is used, by our metrics."""
    columns = [
        {labels["device_uuid"]: int(value) // unit for labels, value in replica.figures(name)}
        for name, unit in _BY_US.items()
    ]
    uses = {card: (columns[0][card], columns[1][card], columns[2][card]) for card in columns[0]}
    return {card: use for card, use in uses.items() if any(use)}


def agree(plane: ControlPlane, replica: Replica) -> dict[str, Use]:
    """Wait until both accounts agree and nothing is held for a pod that is not bound, and return them."""

    def look() -> tuple[dict[str, Use], dict[str, Use], float, float]:
        held, leaked = replica.figure("reservations_held"), replica.figure("reservations_leaked")
        return written(plane), charged(replica), held, leaked

    found = eventually(look, lambda seen: seen[0] == seen[1] and seen[2:] == (0, 0), limit_s=20)
    return found[0]


def cards(plane: ControlPlane, path: str) -> list[str]:
    """Return the cards that a pod was given, by its annotations."""
    return [grant.device_id for grant in _grants(plane.ask("GET", path))]


def locks(plane: ControlPlane) -> dict[str, str]:
    """Return the locks of nodes that are locked."""
    listed = plane.ask("GET", NODES)["items"]
    found = {each["metadata"]["name"]: each["metadata"].get("annotations", {}) for each in listed}
    return {name: own[LOCK] for name, own in found.items() if LOCK in own}


def _grants(pod: Any) -> list[Any]:
    text = pod["metadata"].get("annotations", {}).get(ALLOCATED, "")
    return [grant for each in containers.entries(text) for grant in each] if text else []
