"""What a kubelet reads of the spec of a pod, and what it writes of its status."""

from collections.abc import Mapping
from typing import Any, Final

from tests.e2e.commands import Object
from tests.standin import bodies
from tests.standin.live import now

KILLED: Final = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
CONDITIONS: Final = ("PodScheduled", "Initialized", "ContainersReady", "Ready")


def container_of(pod: Object) -> Object:
    """Return the only container of a pod."""
    (container,) = pod["spec"]["containers"]
    found: Object = container
    return found


def port_of(container: Object, wanted: str | int) -> int:
    """Return a port of a container, by its name or number."""
    named = {each["name"]: each["containerPort"] for each in container["ports"]}
    return int(named.get(wanted, wanted))


def environment(pod: Object, address: str) -> dict[str, str]:
    """Return the variables of the container."""
    return {
        each["name"]: each["value"] if "value" in each else _field(pod, each["valueFrom"], address)
        for each in container_of(pod).get("env", [])
    }


def _field(pod: Object, source: Mapping[str, Any], address: str) -> str:
    path, metadata = source["fieldRef"]["fieldPath"], pod["metadata"]
    match path.partition("["):
        case ("metadata.labels", _, key):
            return str(metadata["labels"][key.strip("'\"]")])
        case ("status.podIP", _, _):
            return address
        case _:
            return str(metadata[path.removeprefix("metadata.")])


def status_of(
    pod: Object, address: str, *, is_running: bool, is_ready: bool, restarts: int
) -> Object:
    """Return the status of a pod whose container runs, or was killed."""
    container, stamp = container_of(pod), bodies.stamp(now())
    met = {each: is_ready or each in CONDITIONS[:2] for each in CONDITIONS}
    return {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": stamp,
        "conditions": [
            {"type": name, "status": str(is_so), "lastTransitionTime": stamp}
            for name, is_so in met.items()
        ],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": is_ready,
                "restartCount": restarts,
                "state": {"running": {"startedAt": stamp}} if is_running else KILLED,
            }
        ],
    }
