"""Sets of cards taken round after round on many nodes at once, in the order that the policy gives.

Each round gives every node that still can take one its next pod, on the cards that placing it would
pick: the most preferred that serve, whose order follows what the rounds before have taken.
"""

from typing import Final

import numpy as np

from springtide.engine.placement.filling import Portions
from springtide.engine.placement.order import BINPACK, MUTEX, NUMA, TOPOLOGY_AWARE
from springtide.model.columns import Bool, Float32, Int32, Int64
from springtide.vendors.nvidia.ask import NvidiaAsk
from springtide.vendors.nvidia.vector import NvidiaCells

_SCALE: Final = np.float32(10)
_NEVER: Final = np.iinfo(np.int64).min
_FIELD_BITS: Final = 10
_FIELD_MAX: Final = 1 << _FIELD_BITS


def follows(ask: NvidiaAsk, cells: NvidiaCells) -> Bool:
    """Return in which rows the order of cards can be followed.

    That of chains and of the topology policy cannot, and cards of the bare type are compared with
    the request added.
    """
    if "," in ask.device_policy or ask.device_policy in {NUMA, TOPOLOGY_AWARE}:
        return np.zeros(len(cells.rows), np.bool_)
    is_small = cells.is_candidate.shape[1] < _FIELD_MAX
    has_place = (cells.numa >= 0) & (cells.numa < _FIELD_MAX)
    found: Bool = ((has_place & ~cells.is_bare) | ~cells.is_candidate).all(axis=1) & is_small
    return found


def taken_in_rounds(
    cells: NvidiaCells, portions: Portions, room: Int64, *, rows: Bool, size: int
) -> Int64:
    """Return how often each card is taken on the rows under the mask, and nothing on others."""
    taken = np.zeros_like(room)
    memory = np.broadcast_to(np.asarray(portions.memory, np.int64), room.shape)
    cards = _Cards(cells, memory, cores=portions.cores)
    left = room.copy()
    while True:
        rows = rows & ((left > 0).sum(axis=1) >= size)
        open_rows = np.flatnonzero(rows)
        if not len(open_rows):
            return taken
        keys = cards.keys(open_rows, taken[open_rows])
        keys[left[open_rows] <= 0] = _NEVER
        picked = np.argsort(keys, axis=1)[:, -size:]
        taken[open_rows[:, None], picked] += 1
        left[open_rows[:, None], picked] -= 1


class _Cards:
    """What the order of cards depends on, and how much of it one request takes."""

    def __init__(self, cells: NvidiaCells, memory: Int64, *, cores: int) -> None:
        self._cells = cells
        self._policy = cells.ask.device_policy
        self._weights = cells.ask.weights
        self._memory = memory
        self._cores = cores
        has_all = (cells.slots_total > 0) & (cells.cores_total > 0) & (cells.memory_total > 0)
        self._has_all: Bool = has_all
        self._memory_used = cells.memory_total.astype(np.int64) - cells.memory_free
        self._positions = np.arange(cells.numa.shape[1], dtype=np.int64)

    def keys(self, rows: Int64, taken: Int64) -> Int64:
        """Return a number a card: the largest is tried first."""
        places = (self._cells.numa[rows].astype(np.int64) << _FIELD_BITS) + self._positions
        return (self._ranks(rows, taken) << (2 * _FIELD_BITS)) + places

    def _ranks(self, rows: Int64, taken: Int64) -> Int64:
        if self._policy == MUTEX:
            slots: Int64 = self._cells.slots_used[rows] + taken
            return -slots
        # Bits of floats that are not negative are in the order of the floats.
        ranks = self._scores(rows, taken).view(np.int32).astype(np.int64)
        return ranks if self._policy == BINPACK else -ranks

    def _scores(self, rows: Int64, taken: Int64) -> Float32:
        cells, weights = self._cells, self._weights
        slots = _part(cells.slots_used[rows] + taken, cells.slots_total[rows], weights.slot)
        cores_used = cells.cores_used[rows] + taken * self._cores
        cores = _part(cores_used, cells.cores_total[rows], weights.core)
        memory_used = self._memory_used[rows] + taken * self._memory[rows]
        memory = _part(memory_used, cells.memory_total[rows], weights.memory)
        scores: Float32 = ((slots + cores) + memory) * _SCALE
        scores[~self._has_all[rows]] = 0
        return scores


def _part(used: Int64, total: Int32, weight: int) -> Float32:
    """Return the weighted part in use, rounded to single precision at every step."""
    whole = np.maximum(total, 1).astype(np.float32)
    part = used.astype(np.float32) / whole
    weighted: Float32 = (float(weight) * part.astype(np.float64)).astype(np.float32)
    return weighted
