"""Columns: the state of all nodes and devices as arrays, one row a node, one cell a device.

Arrays are allocated with spare rows and doubled; only the first `count` rows of a ledger mean
anything. They are owned by one ledger and are read, never written, by everyone else.
"""

from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from springtide.base.names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from springtide.model.device import Device, DeviceView, Inventory, MigPlacement, Share, Use

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

KeyT = TypeVar("KeyT", bound=Hashable)
AmountList = tuple[tuple[str, int], ...]
"""Resource names, each at most once, with amounts in scheduler units."""

AMOUNT_LISTS_MAX = 65_536


class Interner(Generic[KeyT]):
    """Distinct values as small integers, in order of first sight."""

    __slots__ = ("_codes", "values")

    def __init__(self, values: Sequence[KeyT] = ()) -> None:
        self._codes: dict[KeyT, int] = {}
        self.values: list[KeyT] = []
        for value in values:
            self.code(value)

    def __len__(self) -> int:
        """Return how many distinct values were seen."""
        return len(self.values)

    def code(self, value: KeyT) -> int:
        """Return the value's code, giving it one at first sight."""
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self.values)
            self.values.append(value)
        return code

    def known(self, value: KeyT) -> int | None:
        """Return the value's code, or None if it was never seen."""
        return self._codes.get(value)


class ResourceColumns:
    """Node resources: `allocatable` and `used`, int64 [resources, rows], in scheduler units.

    The first four resources are pods, cpu, memory and ephemeral-storage, always present.
    """

    def __init__(self, rows: int) -> None:
        self.names: Interner[str] = Interner((PODS, CPU, MEMORY, EPHEMERAL_STORAGE))
        self.allocatable: Int64 = np.zeros((8, rows), np.int64)
        self.used: Int64 = np.zeros((8, rows), np.int64)
        self._lists: dict[AmountList, tuple[Int64, Int64]] = {}

    def index(self, name: str) -> int:
        """Return the resource's row in the matrices, adding one at first sight."""
        index = self.names.code(name)
        if index == len(self.allocatable):
            self.allocatable = np.concatenate([self.allocatable, np.zeros_like(self.allocatable)])
            self.used = np.concatenate([self.used, np.zeros_like(self.used)])
        return index

    def known(self, name: str) -> int | None:
        """Return the resource's row in the matrices, or None if no node or pod has named it."""
        return self.names.known(name)

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        self.allocatable = grown(self.allocatable, rows, axis=1)
        self.used = grown(self.used, rows, axis=1)

    def set_row(self, row: int, allocatable: AmountList) -> None:
        """Give a row to a node: its allocatable amounts, nothing used."""
        # The indices first: naming a new resource replaces the matrices.
        indices, quantities = self._lists.get(allocatable) or self._listed(allocatable)
        self.allocatable[:, row] = 0
        self.used[:, row] = 0
        self.allocatable[indices, row] = quantities

    def take(self, row: int, amounts: AmountList, *, sign: int = 1) -> None:
        """Count the amounts as used (sign 1) or free them again (sign -1)."""
        indices, quantities = self._lists.get(amounts) or self._listed(amounts)
        self.used[indices, row] += sign * quantities

    def free(self, row: int) -> dict[str, int]:
        """Return what is allocatable and not in use on a row; negative where it is overcommitted."""
        left = self.allocatable[:, row] - self.used[:, row]
        return dict(zip(self.names.values, left.tolist(), strict=False))

    def take_all(self, rows: Sequence[int], amounts: AmountList) -> None:
        """Count the amounts as used on each of the rows, as often as it is given."""
        indices, quantities = self._lists.get(amounts) or self._listed(amounts)
        counts = np.bincount(rows, minlength=self.used.shape[1])
        self.used[indices] += quantities[:, None] * counts

    def _listed(self, amounts: AmountList) -> tuple[Int64, Int64]:
        """Return a list of amounts as indices and quantities, remembered: pods repeat them."""
        if len(self._lists) >= AMOUNT_LISTS_MAX:
            self._lists.clear()
        indices = np.array([self.index(name) for name, _ in amounts], np.int64)
        quantities = np.array([quantity for _, quantity in amounts], np.int64)
        self._lists[amounts] = indices, quantities
        return indices, quantities


class DeviceColumns:
    """Devices of one family: static and used cells, int32 [rows, widest node].

    `count[row]` devices are present in a row; cells beyond are zero. `inventory[row]` codes the
    row's inventory in `inventories` (-1: none), `model` codes device types and `mode` modes;
    `repeats[row]` says that the inventory names an id twice.
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
        self.memory_total, self.memory_used = _cells(rows), _cells(rows)
        self.cores_total, self.cores_used = _cells(rows), _cells(rows)
        self.slots_total, self.slots_used = _cells(rows), _cells(rows)
        self.model, self.mode, self.numa = _cells(rows), _cells(rows), _cells(rows)
        self.healthy: Bool = np.zeros((rows, 1), np.bool_)
        self.cordoned: Bool = np.zeros((rows, 1), np.bool_)
        self.opaque: Int32 = _cells(rows)
        self.occupied: dict[tuple[int, int], tuple[MigPlacement, ...]] = {}
        self.closed: dict[int, dict[str, str]] = {}

    _CELLS = (
        "memory_total", "memory_used", "cores_total", "cores_used", "slots_total", "slots_used",
        "model", "mode", "numa", "healthy", "cordoned", "opaque",
    )  # fmt: skip

    @property
    def width(self) -> int:
        """Return the number of device cells a row has."""
        return int(self.memory_total.shape[1])

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        old = len(self.inventory)
        self.inventory = grown(self.inventory, rows, axis=0)
        self.inventory[old:] = -1
        self.count = grown(self.count, rows, axis=0)
        self.repeats = grown(self.repeats, rows, axis=0)
        for name in self._CELLS:
            setattr(self, name, grown(getattr(self, name), rows, axis=0))

    def widen(self, width: int) -> None:
        """Make room for nodes with this many devices."""
        for name in self._CELLS:
            setattr(self, name, grown(getattr(self, name), width, axis=1))

    def set_row(self, row: int, inventory: Inventory | None) -> None:
        """Give a row to a node's inventory: nothing used, nothing closed."""
        # The cells of a row without devices are zero already.
        for name in self._CELLS if self.inventory[row] >= 0 else ():
            getattr(self, name)[row] = 0
        self.closed.pop(row, None)
        devices = inventory.devices if inventory else ()
        self.inventory[row] = self.inventories.code(inventory) if inventory else -1
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
        self.inventory[target] = self.inventory[source]
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

    def take(self, row: int, shares: Sequence[Share], *, sign: int = 1) -> None:
        """Count the shares as used (sign 1) or free them again (sign -1)."""
        for share in shares:
            cell = (row, share.position)
            self.memory_used[cell] += sign * share.memory_mib
            self.cores_used[cell] += sign * share.cores
            self.slots_used[cell] += sign * share.slots
            if share.is_opaque:
                self.opaque[cell] += sign
            if share.occupied:
                self._occupy(cell, share.occupied, sign)

    def take_all(self, taken: Sequence[tuple[int, Share]]) -> None:
        """Count many shares, each with its row, as used."""
        rows = np.array([row for row, _ in taken], np.intp)
        positions = np.array([share.position for _, share in taken], np.intp)
        cells = (rows, positions)
        np.add.at(self.memory_used, cells, [share.memory_mib for _, share in taken])
        np.add.at(self.cores_used, cells, [share.cores for _, share in taken])
        np.add.at(self.slots_used, cells, [share.slots for _, share in taken])
        np.add.at(self.opaque, cells, [share.is_opaque for _, share in taken])
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
        slots = self.slots_used[row, :count].tolist()
        memory = self.memory_used[row, :count].tolist()
        cores = self.cores_used[row, :count].tolist()
        opaque = self.opaque[row, :count].tolist()
        uses = tuple(
            Use(
                slots=slots[position],
                memory_mib=memory[position],
                cores=cores[position],
                occupied=self.occupied.get((row, position), ()),
                opaque=opaque[position],
            )
            for position in range(count)
        )
        return DeviceView(inventory=inventory, uses=uses)


def _cells(rows: int) -> Int32:
    return np.zeros((rows, 1), np.int32)


IntegerT = TypeVar("IntegerT", bound=np.integer)
ArrayT = TypeVar("ArrayT", bound=npt.NDArray[np.generic])


def grown(array: ArrayT, size: int, *, axis: int = 0) -> ArrayT:
    """Return the array with this length along an axis, new cells zero; never shorter."""
    if array.shape[axis] >= size:
        return array
    shape = list(array.shape)
    shape[axis] = size
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(0, length) for length in array.shape)] = array
    return larger  # type: ignore[return-value]  # same dtype and rank as the argument


def distinct(values: npt.NDArray[IntegerT]) -> npt.NDArray[IntegerT]:
    """Return the distinct values, ascending (`np.unique` would load masked arrays: 0.15 s)."""
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]
