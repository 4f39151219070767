"""The devices of many nodes at once, as arrays: rows are nodes, cells are devices.

What a family's vector verdicts are made of: the cells of the rows in question, and the checks of
HAMi's standard fit as array operations, in the same order as `Trial` makes them one by one.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.engine.placement import checks
from springtide.engine.placement.family import ABSENT, Rows, Verdicts
from springtide.engine.placement.filters import Names, uuid_ok
from springtide.engine.placement.trial import PERCENT
from springtide.model.columns import Bool, Float32, Int32, Int64, distinct
from springtide.model.device_columns import DeviceColumns

Codes = npt.NDArray[np.uint8]
MemoryAsked = Int32 | Int64 | int

_UINT8: Final = tuple(np.arange(256, dtype=np.uint8))
"""Codes as array scalars, made once: making one costs as much as an operation on a few rows."""

without_alarm: Final = np.errstate(invalid="ignore")
"""For functions that count with products: numpy was seen to warn of an invalid value in a product of
small arrays of whole numbers, which can have none. One context around many products costs least."""


class Cells:
    """The cells of the rows in question."""

    def __init__(self, columns: DeviceColumns, rows: Rows) -> None:
        self.columns = columns
        self.rows = rows
        self.inventory: Int32 = columns.inventory.take(rows)
        self.memory_total: Int32 = columns.memory_total.take(rows, axis=0)
        self.memory_free: Int32 = self.memory_total - columns.memory_used.take(rows, axis=0)
        self.cores_total: Int32 = columns.cores_total.take(rows, axis=0)
        self.cores_used: Int32 = columns.cores_used.take(rows, axis=0)
        self.slots_total: Int32 = columns.slots_total.take(rows, axis=0)
        self.slots_used: Int32 = columns.slots_used.take(rows, axis=0)
        self.model: Int32 = columns.model.take(rows, axis=0)
        self.mode: Int32 = columns.mode.take(rows, axis=0)

    def candidates(self, is_type: Bool) -> Bool:
        """Return which cells hold a device of a type that this table says yes to."""
        found = looked_up(is_type, self.model)
        found &= np.arange(self.columns.width) < self.columns.count.take(self.rows)[:, None]
        return found

    def other_ids(self, use: Names, avoid: Names) -> Bool:
        """Return which cells hold a device whose id is not allowed, per distinct inventory."""
        present = distinct(self.inventory)
        table: Bool = np.zeros((len(present), self.columns.width), np.bool_)
        for index, code in enumerate(present.tolist()):
            if code >= 0:
                devices = self.columns.inventories.values[code].devices
                table[index, : len(devices)] = [
                    not uuid_ok(device.id, use=use, avoid=avoid) for device in devices
                ]
        refused: Bool = table.take(np.searchsorted(present, self.inventory), axis=0)
        return refused

    def unhealthy(self) -> Codes:
        """Return the codes to begin with: which devices are unhealthy."""
        healthy: Bool = self.columns.healthy.take(self.rows, axis=0)
        found: Codes = ~healthy * _UINT8[checks.UNHEALTHY]
        return found

    def check_slots(self, found: Codes, *, is_mutex: bool) -> None:
        """Note the checks of slots."""
        note(found, self.slots_total <= self.slots_used, checks.SLOTS_TAKEN)
        note(found, self.slots_total <= 0, checks.WITHOUT_SLOTS)
        if is_mutex:
            note(found, self.slots_used > 0, checks.MUTEX_TAKEN)

    def memory_asked(self, memory_mib: int, pct: int) -> MemoryAsked:
        """Return the MiB that are asked of each cell; memory wins over a percentage."""
        if memory_mib:
            return memory_mib
        if pct == PERCENT:
            return self.memory_total
        asked: Int64 = self.memory_total.astype(np.int64) * pct // PERCENT
        return asked

    def check_memory(self, found: Codes, memory: MemoryAsked) -> None:
        """Note the checks of memory."""
        note(found, self.memory_total < memory, checks.MEMORY_TOO_SMALL)
        note(found, self.memory_free < memory, checks.MEMORY_TAKEN)

    def check_cores(self, found: Codes, cores: int, *, total: Int32 | int) -> None:
        """Note the checks of cores; devices count as having `total`."""
        used = self.cores_used
        note(found, np.less(total, cores), checks.CORES_TOO_FEW)
        note(found, (total - used) < cores, checks.CORES_TAKEN)
        if cores == PERCENT:
            whole = np.equal(total, PERCENT)
            note(found, whole & (self.slots_used > 0), checks.EXCLUSIVE_TAKEN)
        if cores == 0:
            note(found, np.not_equal(total, 0) & (used == total), checks.COMPUTE_TAKEN)


def table(flags: Sequence[bool]) -> Bool:
    """Return a table that codes are looked up in, from one flag a code."""
    # Never empty, so that the code 0 of cells without a device can be looked up.
    return np.array(flags or [False], np.bool_)


def looked_up(flags: Bool, cells: Int32) -> Bool:
    """Return what a table says of these cells."""
    found: Bool = flags.take(cells)
    return found


def per_row(cells: Bool) -> Float32:
    """Return how many cells of each row are true; a product is much faster than a sum here."""
    counts: Float32 = np.dot(cells.astype(np.float32), _ones(cells.shape[1]))
    return counts


@lru_cache(maxsize=64)
def _ones(width: int) -> Float32:
    return np.ones(width, np.float32)


def note(found: Codes, refuses: Bool, code: int) -> None:
    """Note a check where it refuses, unless an earlier one (a larger number) did."""
    np.maximum(found, np.multiply(refuses, _UINT8[code]), out=found)


def settle(verdicts: Verdicts, is_candidate: Bool, whole: Sequence[tuple[Bool, int]]) -> None:
    """Mark cells without a candidate, and rows that are refused as a whole, by the last that does."""
    note(verdicts.codes, ~is_candidate, ABSENT)
    for refused, code in whole:
        if refused.any():
            verdicts.codes[refused] = code
            verdicts.fits[refused] = False
            verdicts.is_exact[refused] = True


def joined(earlier: Verdicts, later: Verdicts) -> Verdicts:
    """Return the earlier verdicts where they refuse, the later ones where they pass."""
    return Verdicts(
        fits=earlier.fits & later.fits,
        is_exact=earlier.is_exact & (later.is_exact | ~earlier.fits),
        codes=np.where(earlier.fits[:, None], later.codes, earlier.codes),
    )
