"""Device columns: the devices of one family on all nodes as arrays, and what is used of them.

As with all columns, spare rows lie behind those that mean anything, one ledger owns the arrays, and
everyone else only reads them.
"""

from collections.abc import Sequence

import numpy as np

from springtide.model.columns import Bool, Float32, Int32, Int64, Interner, grown
from springtide.model.device import Device, DeviceView, Inventory, MigPlacement, Share, Use
from springtide.model.device_load import load_of, loads_of, single


class DeviceColumns:
    """Devices of one family: static cells, int32 [rows, widest node], and what is used of them.

    `used` [4, rows, widest node] stacks memory, cores, slots and opaque shares, so that one look
    reads them together; `memory_used` and the like are its planes, `used_sums` [3, rows] adds up the
    memory, cores and slots of each row, and `load` [rows] is what they amount to. `count[row]` devices are present
    in a row; cells beyond are zero. `inventory[row]` codes the row's inventory in `inventories`
    (-1: none), `model` codes device types and `mode` modes; `repeats[row]` says that the inventory
    names an id twice. `kind[row]` codes what the devices are but for their ids: `kinds` holds one
    inventory of each kind, and `kind_totals` [3, kinds] its memory, cores and slots in all, infinite
    where it has none of one of them, so that no part of anything is in use.
    `occupied` holds the MIG placements in use, by (row, position), only where there are any.
    `closed[row]` holds, by pod uid, why a row takes no further pod of this family.
    """

    def __init__(self, family: str, rows: int) -> None:
        self.family = family
        self.inventories: Interner[Inventory] = Interner()
        self.types: Interner[str] = Interner()
        self.modes: Interner[str] = Interner()
        self.inventory: Int32 = np.full(rows, -1, np.int32)
        self.count: Int32 = np.zeros(rows, np.int32)
        self.repeats: Bool = np.zeros(rows, np.bool_)
        self.kind: Int32 = np.full(rows, -1, np.int32)
        self.kinds: list[Inventory] = []
        self.kind_totals: Float32 = np.ones((3, 1), np.float32)
        self.used: Int32 = np.zeros((4, rows, 1), np.int32)
        self.used_sums: Int64 = np.zeros((3, rows), np.int64)
        self.load: Float32 = np.zeros(rows, np.float32)
        self.memory_total, self.cores_total = _cells(rows), _cells(rows)
        self.slots_total: Int32 = _cells(rows)
        self.model, self.mode, self.numa = _cells(rows), _cells(rows), _cells(rows)
        self.healthy: Bool = np.zeros((rows, 1), np.bool_)
        self.cordoned: Bool = np.zeros((rows, 1), np.bool_)
        self.occupied: dict[tuple[int, int], tuple[MigPlacement, ...]] = {}
        self.closed: dict[int, dict[str, str]] = {}
        self._largest_mib = self._measured = 0
        self._kind_codes: dict[tuple[object, ...], int] = {}
        self._totals: list[tuple[float, float, float]] = []

    _CELLS = (
        "memory_total", "cores_total", "slots_total", "model", "mode", "numa", "healthy",
        "cordoned",
    )  # fmt: skip

    @property
    def memory_used(self) -> Int32:
        """Return the MiB in use of every cell; writing to them changes the columns."""
        plane: Int32 = self.used[0]
        return plane

    @property
    def cores_used(self) -> Int32:
        """Return the cores in use of every cell."""
        plane: Int32 = self.used[1]
        return plane

    @property
    def slots_used(self) -> Int32:
        """Return the slots in use of every cell."""
        plane: Int32 = self.used[2]
        return plane

    @property
    def opaque(self) -> Int32:
        """Return how many opaque shares every cell has."""
        plane: Int32 = self.used[3]
        return plane

    @property
    def width(self) -> int:
        """Return the number of device cells a row has."""
        return int(self.memory_total.shape[1])

    @property
    def largest_mib(self) -> int:
        """Return the most memory that any device has had so far, whole or as an instance."""
        fresh = self.inventories.values[self._measured :]
        self._measured += len(fresh)
        for device in (device for inventory in fresh for device in inventory.devices):
            instances = (profile.memory_mib for profile in device.mig_profiles)
            self._largest_mib = max(self._largest_mib, device.memory_mib, *instances)
        return self._largest_mib

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        old = len(self.inventory)
        self.inventory = grown(self.inventory, rows, axis=0)
        self.inventory[old:] = -1
        self.count = grown(self.count, rows, axis=0)
        self.kind = grown(self.kind, rows, axis=0)
        self.kind[old:] = -1
        self.used = grown(self.used, rows, axis=1)
        self.used_sums = grown(self.used_sums, rows, axis=1)
        self.load = grown(self.load, rows)
        self.repeats = grown(self.repeats, rows, axis=0)
        for name in self._CELLS:
            setattr(self, name, grown(getattr(self, name), rows, axis=0))

    def widen(self, width: int) -> None:
        """Make room for nodes with this many devices."""
        self.used = grown(self.used, width, axis=2)
        for name in self._CELLS:
            setattr(self, name, grown(getattr(self, name), width, axis=1))

    def set_row(self, row: int, inventory: Inventory | None) -> None:
        """Give a row to a node's inventory: nothing used, nothing closed."""
        # The cells of a row without devices are zero already.
        for name in self._CELLS if self.inventory[row] >= 0 else ():
            getattr(self, name)[row] = 0
        if self.inventory[row] >= 0:
            self.used[:, row] = 0
            self.used_sums[:, row] = 0
            self.load[row] = 0
        self.closed.pop(row, None)
        devices = inventory.devices if inventory else ()
        self.inventory[row] = self.inventories.code(inventory) if inventory else -1
        self.kind[row] = self._kind_of(inventory) if inventory else -1
        self.count[row] = len(devices)
        self.repeats[row] = len({device.id for device in devices}) < len(devices)
        if len(devices) > self.width:
            self.widen(len(devices))
        if devices:
            self._set_cells(row, devices)

    def copy_row(self, source: int, target: int) -> None:
        """Let one row be as another is: the same inventory in the same use."""
        for name in self._CELLS:
            cells = getattr(self, name)
            cells[target] = cells[source]
        self.used[:, target] = self.used[:, source]
        self.used_sums[:, target] = self.used_sums[:, source]
        self.load[target] = self.load[source]
        self.inventory[target] = self.inventory[source]
        self.kind[target] = self.kind[source]
        self.count[target] = self.count[source]
        self.repeats[target] = self.repeats[source]
        for position in range(self.width):
            placements = self.occupied.get((source, position))
            if placements:
                self.occupied[target, position] = placements

    def _set_cells(self, row: int, devices: Sequence[Device]) -> None:
        cells = (row, slice(len(devices)))
        self.memory_total[cells] = [each.memory_mib for each in devices]
        self.cores_total[cells] = [each.cores for each in devices]
        self.slots_total[cells] = [each.slots for each in devices]
        self.model[cells] = [self.types.code(each.type) for each in devices]
        self.mode[cells] = [self.modes.code(each.mode) for each in devices]
        self.numa[cells] = [each.numa for each in devices]
        self.healthy[cells] = [each.is_healthy for each in devices]
        self.cordoned[cells] = [each.is_cordoned for each in devices]

    def _kind_of(self, inventory: Inventory) -> int:
        """Return the code of the inventory's kind, giving it one at first sight."""
        key = tuple([_but_for_ids(device) for device in inventory.devices])
        code = self._kind_codes.get(key)
        if code is None:
            code = self._kind_codes[key] = len(self.kinds)
            self.kinds.append(inventory)
            self._totals.append(_totals(inventory.devices))
            self.kind_totals = grown(self.kind_totals, code + 1, axis=1)
            self.kind_totals[:, code] = self._totals[code]
        return code

    def take(self, row: int, shares: Sequence[Share], *, sign: int = 1) -> None:
        """Count the shares as used (sign 1) or free them again (sign -1)."""
        used, sums = self.used, self.used_sums
        for share in shares:
            position = share.position
            memory, cores, slots = sign * share.memory_mib, sign * share.cores, sign * share.slots
            used[0, row, position] += memory
            used[1, row, position] += cores
            used[2, row, position] += slots
            sums[0, row] += memory
            sums[1, row] += cores
            sums[2, row] += slots
            if share.is_opaque:
                used[3, row, position] += sign
            if share.occupied:
                self._occupy((row, position), share.occupied, sign)
        self.load[row] = load_of(sums[:, row].tolist(), self._totals[self.kind[row]])

    def weigh(self, rows: Int64) -> None:
        """Work out anew how loaded these rows are, all of which have devices."""
        totals = self.kind_totals.take(self.kind.take(rows), axis=1)
        self.load[rows] = loads_of(self.used_sums.take(rows, axis=1), totals)

    def take_all(self, taken: Sequence[tuple[int, Share]]) -> None:
        """Count many shares, each with its row, as used."""
        rows = np.array([row for row, _ in taken], np.intp)
        positions = np.array([share.position for _, share in taken], np.intp)
        amounts = np.array(
            [(share.memory_mib, share.cores, share.slots, share.is_opaque) for _, share in taken],
            np.int32,
        ).reshape(-1, 4)
        for plane, each in enumerate(amounts.T):
            np.add.at(self.used[plane], (rows, positions), each)
        for plane, each in enumerate(amounts.T[:3]):
            np.add.at(self.used_sums[plane], rows, each)
        self.weigh(rows)
        for row, share in taken:
            if share.occupied:
                self._occupy((row, share.position), share.occupied, 1)

    def _occupy(self, cell: tuple[int, int], placements: Sequence[MigPlacement], sign: int) -> None:
        occupied = list(self.occupied.get(cell, ()))
        for placement in placements:
            if sign > 0:
                occupied.append(placement)
            else:
                occupied.remove(placement)
        if occupied:
            self.occupied[cell] = tuple(sorted(occupied))
        else:
            self.occupied.pop(cell, None)

    def inventory_at(self, row: int) -> Inventory | None:
        """Return the row's inventory, or None if the node has none of this family."""
        code = int(self.inventory[row])
        return None if code < 0 else self.inventories.values[code]

    def view(self, row: int) -> DeviceView | None:
        """Return the row's devices and their use as records, for an exact placement."""
        inventory = self.inventory_at(row)
        if inventory is None:
            return None
        count = len(inventory.devices)
        memory, cores, slots, opaque = self.used[:, row, :count].tolist()
        occupied: list[tuple[MigPlacement, ...]] = [()] * count
        if self.occupied:
            occupied = [self.occupied.get((row, position), ()) for position in range(count)]
        uses = [
            Use(slots=slot, memory_mib=mib, cores=core, occupied=placements, opaque=hidden)
            for slot, mib, core, placements, hidden in zip(
                slots, memory, cores, occupied, opaque, strict=True
            )
        ]
        return DeviceView(inventory=inventory, uses=tuple(uses), kind=self.kinds[self.kind[row]])


def _but_for_ids(device: Device) -> tuple[object, ...]:
    """Return what a device is to an ask that does not name devices; links are read by id only."""
    return (
        device.index, device.slots, device.memory_mib, device.cores, device.type, device.numa,
        device.mode, device.is_healthy, device.is_cordoned, device.mig_profiles, device.network,
    )  # fmt: skip


def _totals(devices: Sequence[Device]) -> tuple[float, float, float]:
    memory = sum(each.memory_mib for each in devices)
    cores = sum(each.cores for each in devices)
    slots = sum(each.slots for each in devices)
    if not (memory and cores and slots):
        return np.inf, np.inf, np.inf
    return single(memory), single(cores), single(slots)


def _cells(rows: int) -> Int32:
    return np.zeros((rows, 1), np.int32)
