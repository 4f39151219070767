"""What the ledger charges for an allocation on a node's cards.

A card whose MIG instances are not known must not look free: without a readable reservation, or with
one for a card that is not in MIG mode, the card counts as unhealthy while the pod holds it.
"""

from collections.abc import Iterator, Sequence

from springtide.engine.placement.charges import positions, share_of
from springtide.engine.placement.collapse import Charge, collapse
from springtide.model.device import Allocation, Inventory, MigPlacement, Share
from springtide.vendors.nvidia import mig

_WITHOUT_MIG = "hami-core"

Reserved = dict[str, list[MigPlacement]]


def shares_of(allocation: Allocation, inventory: Inventory) -> tuple[Share, ...]:
    """Return the shares of this allocation; cards that the node does not have are left out."""
    reserved = _reserved(allocation)
    charges = collapse(allocation.containers, allocation.init_count)
    if not reserved:
        return _without_reservations(charges, inventory)
    shares = [share for charge in charges for share in _charged(charge, inventory, reserved)]
    shares.extend(_left_over(reserved, inventory))
    return tuple(shares)


def _without_reservations(charges: Sequence[Charge], inventory: Inventory) -> tuple[Share, ...]:
    found = positions(inventory)
    return tuple(
        [
            share_of(charge, position, is_opaque=inventory.devices[position].mode == mig.MODE)
            for charge in charges
            for position in found.get(charge.device_id, ())
        ]
    )


def _reserved(allocation: Allocation) -> Reserved:
    reserved: Reserved = {}
    for container in allocation.containers:
        for grant in container:
            if grant.mig_placement is not None:
                reserved.setdefault(grant.device_id, []).append(grant.mig_placement)
    for device_id, placement in allocation.unclaimed:
        reserved.setdefault(device_id, []).append(placement)
    return reserved


def _charged(charge: Charge, inventory: Inventory, reserved: Reserved) -> Iterator[Share]:
    placements = reserved.get(charge.device_id, [])
    for position in positions(inventory).get(charge.device_id, ()):
        device = inventory.devices[position]
        occupied: tuple[MigPlacement, ...] = ()
        if placements and device.mode != _WITHOUT_MIG:
            occupied = (placements.pop(0),)
        is_unknown = bool(placements) if device.mode == _WITHOUT_MIG else device.mode == mig.MODE
        yield Share(
            position=position,
            slots=charge.slots,
            memory_mib=charge.memory_mib,
            cores=charge.cores,
            occupied=occupied,
            is_opaque=is_unknown and not occupied,
        )


def _left_over(reserved: Reserved, inventory: Inventory) -> Iterator[Share]:
    """Yield shares for reservations beyond one a card."""
    for device_id, placements in reserved.items():
        if not placements:
            continue
        found = positions(inventory).get(device_id, ())
        position = found[0] if found else None
        if position is None:
            yield from _closed_mig_cards(inventory)
        elif inventory.devices[position].mode == mig.MODE:
            yield Share(position=position, slots=0, occupied=tuple(placements))
        else:
            yield Share(position=position, slots=0, is_opaque=True)


def _closed_mig_cards(inventory: Inventory) -> Iterator[Share]:
    for position, device in enumerate(inventory.devices):
        if device.mode == mig.MODE:
            yield Share(position=position, slots=0, is_opaque=True)
