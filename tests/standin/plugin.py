"""A device plugin as HAMi's are: registers devices, answers the scheduler's handshake, gives devices out.

Which pod it is asked for it is not told: it takes the owner of the node's lock, else a pod of the node
that is about to be bound. Of that pod's list it takes the first container that is left, writes back what
remains, and after the last one marks the pod as bound and frees the lock. Whatever goes wrong marks the
pod as failed, and frees the lock, too.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from springtide.edge.cluster import Cluster, Conflict, Metadata, NotFound, Target, node, pod
from springtide.model.device import Device, Grant
from springtide.wire.hami import Malformed, containers, keys, register
from tests.standin.seen import NODE, POD, Node, Pod

LOCK: Final = "hami.io/mutex.lock"
BIND_TIME: Final = "hami.io/bind-time"
ALLOCATING: Final = "allocating"
SUCCESS: Final = "success"
PENDING: Final = frozenset({ALLOCATING, SUCCESS})
REQUESTING: Final = "Requesting"
REPORTED: Final = "Reported_"
RELEASES_MAX: Final = 5
_LOCK_PARTS: Final = 3


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """How a family of devices is written down; without `handshake` its plugin answers none."""

    resource: str
    register: str
    work: str
    handshake: str = ""


NVIDIA: Final = Family(
    resource="nvidia.com/gpu",
    register="hami.io/node-nvidia-register",
    work="hami.io/vgpu-devices-to-allocate",
)


class Devices(msgspec.Struct, frozen=True, kw_only=True):
    """The devices of one family on a node, as their plugin registers them."""

    family: Family
    devices: tuple[Device, ...]


class NotGiven(Exception):
    """A container does not get its devices; the message is what the kubelet says of the pod."""


class Seeing:
    """What a plugin can look up at once: its node, and the pods of it. Others' news may come late."""

    def __init__(self) -> None:
        self.node: Node | None = None
        self.pods: dict[str, Pod] = {}


def due(devices: Sequence[Devices], annotations: Mapping[str, str], *, when: str) -> dict[str, str]:
    """Return what a plugin writes on its node in this round: only what is not so already."""
    written: dict[str, str] = {}
    for each in devices:
        family, told = each.family, register.encode(each.devices)
        if annotations.get(family.register) != told:
            written[family.register] = told
        asked = annotations.get(family.handshake, "")
        if family.handshake and (family.register in written or REQUESTING in asked):
            written[family.handshake] = f"{REPORTED}{when}"
    return written


async def give(cluster: Cluster, name: str, seeing: Seeing, asked: Pod, *, family: Family) -> None:
    """Give out what the containers of a pod ask for, or raise NotGiven."""
    for container in asked.all_containers:
        count = container.count(family.resource)
        if count:
            asked = await _give_next(cluster, name, seeing, asked, family=family, count=count)


async def fail(cluster: Cluster, name: str, seeing: Seeing, asked: Pod) -> None:
    """Mark the pod that is about to be bound as failed, and free the lock."""
    owner = await _owner(cluster, name, seeing, asked)
    if owner is not None:
        await _close(cluster, name, seeing, owner, {keys.BIND_PHASE: keys.BIND_FAILED})


async def _give_next(
    cluster: Cluster, name: str, seeing: Seeing, asked: Pod, *, family: Family, count: int
) -> Pod:
    """Answer one call of the kubelet, a container's devices, and return the pod as it is then.

    What was just written is not looked up again: the news of it may not be there yet.
    """
    owner = await _owner(cluster, name, seeing, asked)
    if owner is None:
        raise NotGiven(f"no binding pod found on node {name}")
    left = owner.metadata.annotations.get(family.work, "")
    try:
        remaining = taken(left, count)
    except (Malformed, NotGiven) as fault:
        await _close(cluster, name, seeing, owner, {keys.BIND_PHASE: keys.BIND_FAILED})
        raise NotGiven(str(fault)) from fault
    written = {family.work: remaining}
    if "," in remaining:
        await _write(cluster, owner, written)
    else:
        written |= {keys.BIND_PHASE: SUCCESS}
        await _close(cluster, name, seeing, owner, written)
    return _with(owner, written) if owner.metadata.uid == asked.metadata.uid else asked


def taken(left: str, count: int) -> str:
    """Return a list without its first container, or raise NotGiven if that has not so many devices."""
    segments: list[tuple[Grant, ...]] = list(containers.entries(left)) if left else []
    position = next((at for at, each in enumerate(segments) if each), None)
    if position is None:
        raise NotGiven("device request not found")
    if len(segments[position]) != count:
        raise NotGiven("device number not matched")
    segments[position] = ()
    return containers.encode(segments)


async def _owner(cluster: Cluster, name: str, seeing: Seeing, asked: Pod) -> Pod | None:
    """Return the pod that devices are given out to now."""
    holder = lock_owner(seeing.node)
    if holder == asked.key:
        # The lock was seen, so what the scheduler wrote before it was, too.
        return asked
    seeing.node = await cluster.read(NODE, name)
    holder = lock_owner(seeing.node)
    if holder:
        namespace, _, pod_name = holder.partition("/")
        try:
            return await cluster.read(POD, pod_name, namespace=namespace)
        except NotFound as fault:
            raise NotGiven(str(fault)) from fault
    known = {**seeing.pods, asked.metadata.uid: asked}
    return next((each for each in known.values() if _is_about_to_be_bound(each, name)), None)


def lock_owner(node: Node | None) -> str:
    """Return the namespace and name of the pod that holds the lock of a node, empty if none does."""
    value = node.metadata.annotations.get(LOCK, "") if node else ""
    parts = value.split(",")
    return f"{parts[1]}/{parts[2]}" if len(parts) == _LOCK_PARTS else ""


def _is_about_to_be_bound(each: Pod, name: str) -> bool:
    annotations = each.metadata.annotations
    return (
        each.status.phase == "Pending"
        and BIND_TIME in annotations
        and annotations.get(keys.BIND_PHASE) in PENDING
        and annotations.get(keys.NODE) == name
    )


async def _close(
    cluster: Cluster, name: str, seeing: Seeing, owner: Pod, written: dict[str, str]
) -> None:
    """Write the last word on a pod, and free the lock if it is this pod's."""
    await _write(cluster, owner, written)
    for _ in range(RELEASES_MAX):
        if lock_owner(seeing.node) != owner.key:
            return
        try:
            await _unlock(cluster, name, seeing)
        except Conflict:
            seeing.node = await cluster.read(NODE, name)
        else:
            return


async def _unlock(cluster: Cluster, name: str, seeing: Seeing) -> None:
    assert seeing.node is not None
    version = seeing.node.metadata.resource_version
    target = node(name, version=version)
    await cluster.patch(target, Metadata(annotations={LOCK: None}))


async def _write(cluster: Cluster, owner: Pod, written: dict[str, str]) -> None:
    metadata = owner.metadata
    target: Target = pod(metadata.namespace, metadata.name, uid=metadata.uid)
    await cluster.patch(target, Metadata(annotations=written))


def _with(owner: Pod, written: dict[str, str]) -> Pod:
    annotations = {**owner.metadata.annotations, **written}
    metadata = msgspec.structs.replace(owner.metadata, annotations=annotations)
    return msgspec.structs.replace(owner, metadata=metadata)
