"""Devices: what a node registers, what a pod was given, and what is in use.

Units: memory in MiB, cores in the family's unit (per cent of one card for NVIDIA), slots count the
containers that may share one device. A *position* is a device's index in its node's inventory, in
registration order; it is how the ledger, a share and an allocation name a device.

As all records that are kept in hundreds of thousands, they cannot form cycles, so that the collector
need not look at them (`gc=False`): a quarter of a decision's time would go there.
"""

import msgspec
from msgspec.structs import replace


class MigPlacement(msgspec.Struct, frozen=True, order=True, gc=False):
    """Where a MIG instance sits on its card: first slice and number of slices."""

    start: int
    size: int

    def overlaps(self, other: "MigPlacement") -> bool:
        """Return whether the two intervals share a slice."""
        return self.start < other.start + other.size and other.start < self.start + self.size


class MigProfile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One instance shape that a card can be cut into, with its legal placements."""

    name: str
    memory_mib: int
    cores: int
    slices: int
    placements: tuple[MigPlacement, ...]


class Device(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One accelerator as registered. Hashable; `links` are pair scores to other devices' ids.

    `network` numbers the fast network that the device is part of, None where none is registered.
    """

    id: str
    index: int = 0
    slots: int = 0
    memory_mib: int = 0
    cores: int = 0
    type: str = ""
    numa: int = 0
    mode: str = ""
    is_healthy: bool = False
    is_cordoned: bool = False
    mig_profiles: tuple[MigProfile, ...] = ()
    links: tuple[tuple[str, int], ...] = ()
    network: int | None = None


class Inventory(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """All devices of one family on one node, in registration order."""

    family: str
    devices: tuple[Device, ...]


def nameless(inventory: Inventory) -> Inventory:
    """Return the inventory with positions for device ids, so that equal devices are equal."""
    ids = {device.id: str(position) for position, device in enumerate(inventory.devices)}
    devices = tuple(_renamed(device, ids) for device in inventory.devices)
    return Inventory(inventory.family, devices)


def _renamed(device: Device, ids: dict[str, str]) -> Device:
    links = tuple(sorted((ids[other], score) for other, score in device.links if other in ids))
    return replace(device, id=ids[device.id], links=links)


class Share(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one pod holds of one device, as the ledger counts it.

    `is_opaque` marks a share whose geometry is unknown (a MIG instance without a readable
    reservation): as long as it is held the device counts as unhealthy.
    """

    position: int
    slots: int = 1
    memory_mib: int = 0
    cores: int = 0
    occupied: tuple[MigPlacement, ...] = ()
    is_opaque: bool = False


class Use(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is in use of one device; `occupied` is sorted, `opaque` counts opaque shares."""

    slots: int = 0
    memory_mib: int = 0
    cores: int = 0
    occupied: tuple[MigPlacement, ...] = ()
    opaque: int = 0

    def plus(self, share: Share) -> "Use":
        """Return the use after this share was taken."""
        return Use(
            slots=self.slots + share.slots,
            memory_mib=self.memory_mib + share.memory_mib,
            cores=self.cores + share.cores,
            occupied=tuple(sorted(self.occupied + share.occupied)),
            opaque=self.opaque + share.is_opaque,
        )


class DeviceView(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """One node's devices of one family and their use: the input of an exact placement. Hashable.

    `kind` is an inventory whose devices differ from these by their ids at most, the same one for many
    nodes, so that what does not depend on ids is worked out once; None where nobody knows one.
    """

    inventory: Inventory
    uses: tuple[Use, ...]
    kind: Inventory | None = None

    @property
    def but_for_ids(self) -> Inventory:
        """Return the inventory to ask about what does not depend on ids."""
        return self.inventory if self.kind is None else self.kind

    def plus(self, shares: tuple[Share, ...]) -> "DeviceView":
        """Return the view after these shares were taken."""
        uses = list(self.uses)
        for share in shares:
            uses[share.position] = uses[share.position].plus(share)
        return DeviceView(inventory=self.inventory, uses=tuple(uses), kind=self.kind)


def empty_view(inventory: Inventory) -> DeviceView:
    """Return the view of a node that nobody uses yet."""
    return DeviceView(inventory=inventory, uses=(Use(),) * len(inventory.devices))


class Grant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One device given to one container, in the words of the pod's annotation.

    `profile` names the shape that is cut out of the device: a MIG profile, an NPU's template.
    """

    device_id: str
    type: str
    memory_mib: int
    cores: int
    profile: str = ""
    mig_placement: MigPlacement | None = None


class Allocation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one pod got of one family: per container (init containers first) its grants.

    `unclaimed` are MIG reservations (device id, placement) that no grant accounts for; they occupy
    their card all the same.
    """

    family: str
    containers: tuple[tuple[Grant, ...], ...]
    init_count: int = 0
    unclaimed: tuple[tuple[str, MigPlacement], ...] = ()
