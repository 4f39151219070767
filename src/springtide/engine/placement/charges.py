"""What the ledger charges for an allocation where nothing but slots, memory and cores is held."""

from collections.abc import Mapping
from functools import lru_cache

from springtide.engine.placement.collapse import Charge, collapse
from springtide.engine.placement.trial import INVENTORIES_MAX
from springtide.model.device import Allocation, Inventory, Share


def plain_shares(allocation: Allocation, inventory: Inventory) -> tuple[Share, ...]:
    """Return the shares of an allocation; devices that the node does not have are left out."""
    found = positions(inventory)
    return tuple(
        [
            share_of(charge, position)
            for charge in collapse(allocation.containers, allocation.init_count)
            for position in found.get(charge.device_id, ())
        ]
    )


def share_of(charge: Charge, position: int, *, is_opaque: bool = False) -> Share:
    """Return the share that a charge is at this position."""
    return Share(
        position=position,
        slots=charge.slots,
        memory_mib=charge.memory_mib,
        cores=charge.cores,
        is_opaque=is_opaque,
    )


@lru_cache(maxsize=INVENTORIES_MAX)
def positions(inventory: Inventory) -> Mapping[str, tuple[int, ...]]:
    """Return where each device id stands; an id that is registered twice stands at both."""
    found: dict[str, tuple[int, ...]] = {}
    for position, device in enumerate(inventory.devices):
        found[device.id] = (*found.get(device.id, ()), position)
    return found
