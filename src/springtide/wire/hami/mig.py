"""MIG reservations of a pod: which profile at which placement of which card, per granted device.

The scheduler reserves, the device plugin adds the runtime ids once the instance exists; both count
alike. `container_index` and `device_index` are positions in the same list that the allocation
annotation encodes. Reading is all or nothing.
"""

from collections.abc import Sequence

import msgspec

from springtide.model.device import MigPlacement
from springtide.wire.hami.document import Fields, elements, parse
from springtide.wire.hami.errors import Malformed
from springtide.wire.hami.register import placement


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """One MIG instance: reserved, or realised once the plugin has written its three runtime ids."""

    container_index: int
    device_index: int
    device_id: str
    profile: str
    placement: MigPlacement
    mig_id: str = ""
    gpu_instance_id: int | None = None
    compute_instance_id: int | None = None

    @property
    def is_realised(self) -> bool:
        """Return whether the instance exists on the card."""
        return bool(self.mig_id)


def decode(text: str) -> tuple[Reservation, ...]:
    """Return the reservations in order, or raise Malformed; an empty text holds none."""
    document = parse(text) if text else None
    if document is None:
        return ()
    reservations = tuple(
        _reservation(fields, position) for position, fields in enumerate(elements(document, ""))
    )
    _refuse_duplicates(reservations)
    return reservations


def encode(reservations: Sequence[Reservation]) -> str:
    """Return the annotation value for these reservations."""
    return msgspec.json.encode([_encoded(reservation) for reservation in reservations]).decode()


def _reservation(fields: Fields, position: int) -> Reservation:
    reservation = Reservation(
        container_index=fields.integer("containerIndex"),
        device_index=fields.integer("deviceIndex"),
        device_id=fields.text("gpuUUID"),
        profile=fields.text("profile"),
        placement=placement(fields.nested("placement")),
        mig_id=fields.text("migUUID"),
        gpu_instance_id=_optional(fields, "gpuInstanceID"),
        compute_instance_id=_optional(fields, "computeInstanceID"),
    )
    if not _is_complete(reservation):
        raise Malformed(f"MIG allocation {position} is incomplete")
    if _runtime_ids(reservation) not in {0, 3}:
        raise Malformed(f"MIG allocation {position} has partial runtime identity")
    return reservation


def _optional(fields: Fields, name: str) -> int | None:
    return fields.unsigned(name) if fields.has(name) else None


def _is_complete(reservation: Reservation) -> bool:
    indices = min(reservation.container_index, reservation.device_index)
    names = reservation.device_id and reservation.profile
    return indices >= 0 and bool(names) and reservation.placement.size != 0


def _runtime_ids(reservation: Reservation) -> int:
    return (
        bool(reservation.mig_id)
        + (reservation.gpu_instance_id is not None)
        + (reservation.compute_instance_id is not None)
    )


def _refuse_duplicates(reservations: Sequence[Reservation]) -> None:
    seen = set()
    for reservation in reservations:
        place = (reservation.container_index, reservation.device_index)
        if place in seen:
            raise Malformed(f"duplicate MIG allocation for container {place[0]} device {place[1]}")
        seen.add(place)


def _encoded(reservation: Reservation) -> dict[str, object]:
    values: dict[str, object] = {
        "containerIndex": reservation.container_index,
        "deviceIndex": reservation.device_index,
        "gpuUUID": reservation.device_id,
        "profile": reservation.profile,
        "placement": {"start": reservation.placement.start, "size": reservation.placement.size},
    }
    if reservation.mig_id:
        values["migUUID"] = reservation.mig_id
        values["gpuInstanceID"] = reservation.gpu_instance_id
        values["computeInstanceID"] = reservation.compute_instance_id
    return values
