"""NVIDIA's annotations as records and back: registration of nodes, allocations of pods.

A registration that cannot be read is a refusal, never a smaller node; an allocation that cannot be
read is a refusal, never "holds nothing".
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import structs

from springtide.engine.placement.unregistered import malformed, unreadable
from springtide.model.device import Allocation, Device, Grant, Inventory, MigPlacement
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia.ask import request_of
from springtide.vendors.nvidia.config import FAMILY_NAME, NvidiaConfig
from springtide.wire.hami import Malformed, containers, keys, links, mig, register
from springtide.wire.hami.allocations import fell_back, realigned, without_ended_init

REGISTER: Final = "hami.io/node-nvidia-register"
PAIR_SCORES: Final = "hami.io/node-nvidia-score"
TO_ALLOCATE: Final = "hami.io/vgpu-devices-to-allocate"
ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
MIG_ALLOCATIONS: Final = "hami.io/vgpu-mig-allocations"
HANDSHAKE: Final = "hami.io/node-handshake"
DEVICE_CORDON: Final = keys.DEVICE_CORDON
WRITTEN: Final = frozenset({TO_ALLOCATE, ALLOCATED, MIG_ALLOCATIONS})

Grants = tuple[Grant, ...]


def inventory_of(node: Node) -> Inventory | Refusal | None:
    """Return the cards that the node registers; a Refusal if malformed, None if there are none."""
    registration = node.annotations.get(REGISTER)
    if registration is None:
        return None
    try:
        devices = register.decode(registration)
    except Malformed as fault:
        return malformed(FAMILY_NAME, f"{REGISTER}: {fault}")
    if not devices:
        return None
    try:
        scores = links.decode(node.annotations.get(PAIR_SCORES, "null"))
    except Malformed as fault:
        return malformed(FAMILY_NAME, f"{PAIR_SCORES}: {fault}")
    return Inventory(FAMILY_NAME, _with_notes(devices, scores, _cordoned(node)))


def encode(allocation: Allocation) -> dict[str, str]:
    """Return the pod annotations that the device plugin reads."""
    text = containers.encode(allocation.containers)
    annotations = {TO_ALLOCATE: text, ALLOCATED: text}
    reservations = list(_reservations(allocation.containers))
    if reservations:
        annotations[MIG_ALLOCATIONS] = mig.encode(reservations)
    return annotations


def decode(pod: Pod, config: NvidiaConfig) -> Allocation | Refusal | None:
    """Return what the pod holds; a Refusal if it cannot be read, None if nothing is written.

    A pod that fell back to waiting after a failed bind holds nothing, whatever is still written.
    """
    text = pod.annotations.get(ALLOCATED)
    if text is None or fell_back(pod):
        return None
    try:
        written = containers.entries(text)
    except Malformed as fault:
        return unreadable(FAMILY_NAME, pod, f"{ALLOCATED}: {fault}")
    reservations = _read_reservations(pod)
    granted = _with_instances(written, reservations) if reservations else written
    is_asking = [
        request_of(container, config) is not None
        for container in (*pod.spec.init_containers, *pod.spec.containers)
    ]
    aligned = without_ended_init(realigned(granted, is_asking), pod)
    return Allocation(
        family=FAMILY_NAME,
        containers=aligned,
        init_count=len(pod.spec.init_containers),
        unclaimed=_unclaimed(reservations, aligned),
    )


def _cordoned(node: Node) -> frozenset[str]:
    value = node.annotations.get(keys.DEVICE_CORDON, "")
    return frozenset(item.strip() for item in value.split(",") if item.strip())


def _with_notes(
    devices: Sequence[Device], scores: Sequence[tuple[str, links.Links]], cordoned: frozenset[str]
) -> tuple[Device, ...]:
    by_id = dict(scores)
    noted: list[Device] = []
    for device in devices:
        # Of cards that share an id only the first gets the scores.
        pairs = by_id.pop(device.id, ())
        is_cordoned = device.id in cordoned
        if pairs or is_cordoned:
            device = structs.replace(device, links=pairs, is_cordoned=is_cordoned)  # noqa: PLW2901
        noted.append(device)
    return tuple(noted)


def realised(pod: Pod) -> tuple[mig.Reservation, ...]:
    """Return the MIG instances of a pod that its plugin has made; none if they cannot be read."""
    return tuple(each for each in _read_reservations(pod) if each.is_realised)


def _reservations(allocated: Sequence[Grants]) -> Sequence[mig.Reservation]:
    return [
        mig.Reservation(
            container_index=container_index,
            device_index=device_index,
            device_id=grant.device_id,
            profile=grant.profile,
            placement=grant.mig_placement,
        )
        for container_index, grants in enumerate(allocated)
        for device_index, grant in enumerate(grants)
        if grant.mig_placement is not None
    ]


def _read_reservations(pod: Pod) -> tuple[mig.Reservation, ...]:
    """Return the MIG reservations; unreadable ones count as none, which closes the card."""
    try:
        return mig.decode(pod.annotations.get(MIG_ALLOCATIONS, ""))
    except Malformed:
        return ()


def _with_instances(
    written: Sequence[Grants], reservations: Sequence[mig.Reservation]
) -> tuple[Grants, ...]:
    places: Mapping[tuple[int, int], mig.Reservation] = {
        (reservation.container_index, reservation.device_index): reservation
        for reservation in reservations
    }
    return tuple(
        tuple(
            _with_instance(grant, places.get((container_index, device_index)))
            for device_index, grant in enumerate(grants)
        )
        for container_index, grants in enumerate(written)
    )


def _with_instance(grant: Grant, reservation: mig.Reservation | None) -> Grant:
    if reservation is None or reservation.device_id != grant.device_id:
        return grant
    return structs.replace(grant, profile=reservation.profile, mig_placement=reservation.placement)


def _unclaimed(
    reservations: Sequence[mig.Reservation], allocated: Sequence[Grants]
) -> tuple[tuple[str, MigPlacement], ...]:
    left = [(reservation.device_id, reservation.placement) for reservation in reservations]
    for grants in allocated:
        for grant in grants:
            if grant.mig_placement is not None:
                left.remove((grant.device_id, grant.mig_placement))
    return tuple(left)
