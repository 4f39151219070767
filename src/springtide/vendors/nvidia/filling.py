"""How many equal pods many nodes take, worked out at once instead of pod by pod.

A card serves a pod again until its memory, cores or slots end, whatever the other cards do. So where
a pod takes one card, a node takes as many pods as its cards can serve in all; where it takes several
cards, each of which can serve it once, it takes as many as there are full sets, and where they may
serve more than once, the sets are taken in rounds (`rounds`). What is left to placing one by one: pods
with several containers that take cards, MIG cards, NUMA binding across NUMA nodes, the topology policy
and chains of policies for several cards, and nodes that register an id twice.
"""

import copy
from typing import Final

import numpy as np

from springtide.engine.placement.family import ACCEPTED, Filling, Rows
from springtide.engine.placement.order import MUTEX, TOPOLOGY_AWARE, has_token
from springtide.model.columns import Bool, DeviceColumns, Int64
from springtide.vendors.nvidia.ask import PERCENT, NvidiaAsk, Request
from springtide.vendors.nvidia.rounds import follows, taken_in_rounds
from springtide.vendors.nvidia.vector import Cells, codes_of, memory_asked

_ENDLESS: Final = np.iinfo(np.int32).max


def fill(ask: NvidiaAsk, columns: DeviceColumns, rows: Rows) -> Filling:
    """Return how many such pods these rows take until they refuse one."""
    request = _only_request(ask)
    if request is None:
        return Filling(
            counts=np.zeros(len(rows), np.int64),
            is_known=np.zeros(len(rows), np.bool_),
            after=columns,
        )
    cells = Cells(ask, columns, rows)
    accepts: Bool = (codes_of(cells, request) == ACCEPTED) & cells.is_candidate
    room = _room(cells, request, accepts)
    is_known = ~(columns.repeats[rows] | (accepts & cells.is_mig).any(axis=1))
    if request.count > 1 or has_token(ask.device_policy, TOPOLOGY_AWARE):
        is_known &= ~cells.spans_numa
    taken = room
    if request.count > 1:
        taken, is_even = _in_sets(room, accepts, size=request.count)
        in_rounds = is_known & ~is_even & follows(ask, cells)
        taken = np.where(
            in_rounds[:, None], taken_in_rounds(cells, request, room, in_rounds), taken
        )
        is_known &= is_even | in_rounds
    return Filling(
        counts=taken.sum(axis=1) // request.count,
        is_known=is_known,
        after=_after(columns, cells, request, taken),
    )


def _only_request(ask: NvidiaAsk) -> Request | None:
    """Return the one request of a pod whose other containers ask for nothing."""
    requests = [request for request in ask.requests if request is not None]
    is_app = not any(ask.requests[: ask.init_count])
    return requests[0] if len(requests) == 1 and is_app and requests[0].count > 0 else None


def _room(cells: Cells, request: Request, accepts: Bool) -> Int64:
    """Return how often each card serves the request."""
    room: Int64 = (cells.slots_total - cells.slots_used).astype(np.int64)
    memory = np.maximum(memory_asked(cells, request), 0)
    memory_room = cells.memory_free // np.maximum(memory, 1)
    np.minimum(room, np.where(memory > 0, memory_room, _ENDLESS), out=room)
    cores = min(request.cores, PERCENT)
    if cores > 0:
        np.minimum(room, (cells.cores_total - cells.cores_used) // cores, out=room)
    if has_token(cells.ask.device_policy, MUTEX):
        np.minimum(room, 1, out=room)
    room *= accepts
    return room


def _in_sets(room: Int64, accepts: Bool, *, size: int) -> tuple[Int64, Bool]:
    """Return how often each card serves as one of a set, and in which rows that is certain.

    It is where every card can serve but once and none is left over, and where each pod has to take all
    cards that serve.
    """
    count = accepts.sum(axis=1)
    in_full_sets = accepts.cumsum(axis=1) <= (count // size * size)[:, None]
    once = (accepts & in_full_sets).astype(np.int64)
    least = np.where(accepts, room, _ENDLESS).min(axis=1)
    takes_all: Bool = count == size
    is_even = (room <= 1).all(axis=1) & (count % size == 0)
    return np.where(takes_all[:, None], accepts * least[:, None], once), takes_all | is_even


def _after(columns: DeviceColumns, cells: Cells, request: Request, taken: Int64) -> DeviceColumns:
    """Return a copy of the columns in which the cards serve so many requests more."""
    after = copy.copy(columns)
    rows = cells.rows
    cores = min(request.cores, PERCENT)
    for name, each in (
        ("memory_used", memory_asked(cells, request)),
        ("cores_used", cores),
        ("slots_used", 1),
    ):
        used = getattr(columns, name).copy()
        used[rows] += (taken * each).astype(np.int32)
        setattr(after, name, used)
    return after
