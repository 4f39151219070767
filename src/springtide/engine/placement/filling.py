"""How many equal pods many nodes take, worked out at once: what families share.

A device serves a pod again until its memory, cores or slots end, whatever the other devices do. So
where a pod takes one device, a node takes as many pods as its devices can serve in all; where it
takes a set of devices, each of which can serve it once, it takes as many as there are full sets.
"""

import copy
from typing import Final

import msgspec
import numpy as np

from springtide.engine.placement.cells import Cells, MemoryAsked
from springtide.engine.placement.family import Filling, Rows
from springtide.model.columns import Bool, Int32, Int64
from springtide.model.device_columns import DeviceColumns

ENDLESS: Final = np.iinfo(np.int32).max


class Portions(msgspec.Struct, frozen=True, kw_only=True):
    """What one pod takes of each device that serves it; devices count as having `cores_total`."""

    memory: MemoryAsked
    cores: int
    cores_total: Int32 | int


def unknown(columns: DeviceColumns, rows: Rows) -> Filling:
    """Return that only placing one by one can tell."""
    nothing = np.zeros(len(rows), np.int64)
    return Filling(counts=nothing, is_known=np.zeros(len(rows), np.bool_), after=columns)


def room_of(cells: Cells, portions: Portions, accepts: Bool, *, is_mutex: bool) -> Int64:
    """Return how often each device serves, where it does serve once."""
    room: Int64 = (cells.slots_total - cells.slots_used).astype(np.int64)
    memory = np.maximum(portions.memory, 0)
    memory_room = cells.memory_free // np.maximum(memory, 1)
    np.minimum(room, np.where(memory > 0, memory_room, ENDLESS), out=room)
    if portions.cores > 0:
        np.minimum(room, (portions.cores_total - cells.cores_used) // portions.cores, out=room)
    if is_mutex:
        np.minimum(room, 1, out=room)
    room *= accepts
    return room


def in_sets(room: Int64, accepts: Bool, *, size: int) -> tuple[Int64, Bool]:
    """Return how often each device serves as one of a set, and in which rows that is certain.

    It is where every device can serve but once and none is left over, and where each pod has to take
    all devices that serve.
    """
    count = accepts.sum(axis=1)
    in_full_sets = accepts.cumsum(axis=1) <= (count // size * size)[:, None]
    once = (accepts & in_full_sets).astype(np.int64)
    least = np.where(accepts, room, ENDLESS).min(axis=1)
    takes_all: Bool = count == size
    is_even = (room <= 1).all(axis=1) & (count % size == 0)
    return np.where(takes_all[:, None], accepts * least[:, None], once), takes_all | is_even


def after(columns: DeviceColumns, cells: Cells, portions: Portions, taken: Int64) -> DeviceColumns:
    """Return a copy of the columns in which the devices serve so many pods more."""
    filled = copy.copy(columns)
    filled.used, filled.used_sums = columns.used.copy(), columns.used_sums.copy()
    filled.load = columns.load.copy()
    for plane, each in enumerate((portions.memory, portions.cores, 1)):
        filled.used[plane, cells.rows] += (taken * each).astype(np.int32)
        filled.used_sums[plane, cells.rows] += (taken * each).sum(axis=1)
    filled.weigh(cells.rows)
    return filled
