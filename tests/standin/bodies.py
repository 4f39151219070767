"""The objects and statuses that a kubelet writes, as the API wants them."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import msgspec

from tests.standin.kubelet import Report
from tests.standin.plugin import Devices
from tests.standin.seen import Container

Body = dict[str, Any]

ROOM: Final[Mapping[str, str]] = MappingProxyType(
    {"cpu": "32", "memory": "256Gi", "pods": "110", "ephemeral-storage": "1Ti"}
)


class FakeNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that is nothing but objects of the API: what it has room for, and its devices."""

    name: str
    labels: Mapping[str, str] = {}
    room: Mapping[str, str] = ROOM
    devices: tuple[Devices, ...] = ()


def node_object(node: FakeNode, *, when: datetime) -> Body:
    """Return the node as its kubelet registers it."""
    labels = {"kubernetes.io/hostname": node.name, "kubernetes.io/os": "linux", **node.labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": labels},
        "status": node_status(node, when=when),
    }


def node_status(node: FakeNode, *, when: datetime) -> Body:
    """Return the status of a node that is well."""
    room = dict(node.room)
    for each in node.devices:
        # A plugin offers each device as often as it may be shared.
        shares = sum(device.slots for device in each.devices if device.is_healthy)
        room[each.family.resource] = str(shares)
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
        "lastHeartbeatTime": stamp(when),
        "lastTransitionTime": stamp(when),
    }
    return {"capacity": room, "allocatable": room, "conditions": [ready]}


def pod_status(report: Report, *, when: datetime) -> Body:
    """Return the status of a pod whose containers do what is reported."""
    is_running = report.phase == "Running"
    told = {"reason": report.reason, "message": report.why}
    listed = {
        "conditions": _conditions(is_running=is_running, when=when),
        "containerStatuses": [
            _container_status(each, report, when=when) for each in report.pod.spec.containers
        ],
    }
    started = {"startTime": stamp(when)} if is_running else {}
    return {"phase": report.phase, **started, **listed} | {k: v for k, v in told.items() if v}


def stamp(when: datetime) -> str:
    """Return a time as the API writes it."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_stamp(when: datetime) -> str:
    """Return a time as leases have it."""
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _conditions(*, is_running: bool, when: datetime) -> list[Body]:
    facts = {
        "PodScheduled": True,
        "Initialized": True,
        "ContainersReady": is_running,
        "Ready": is_running,
    }
    return [
        {"type": name, "status": str(is_so), "lastTransitionTime": stamp(when)}
        for name, is_so in facts.items()
    ]


def _container_status(container: Container, report: Report, *, when: datetime) -> Body:
    if report.phase == "Running":
        state: Body = {"running": {"startedAt": stamp(when)}}
    elif report.reason:
        state = {"waiting": {"reason": "ContainerCreating"}}
    else:
        reason = "Error" if report.exit_code else "Completed"
        ended = {"exitCode": report.exit_code, "reason": reason, "finishedAt": stamp(when)}
        state = {"terminated": ended}
    return {
        "name": container.name,
        "image": container.image,
        "imageID": "",
        "ready": report.phase == "Running",
        "restartCount": 0,
        "state": state,
    }
