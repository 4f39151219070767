"""How many equal pods many nodes take, for pods one of whose containers takes cards.

Where cards of a set may serve more than once, sets are taken in rounds (`rounds`). What is left to
placing one by one: pods with several containers that take cards, MIG cards, NUMA binding across NUMA
nodes, the topology policy and chains of policies for several cards, and nodes that register an id twice.
"""

import numpy as np

from springtide.engine.placement.family import ACCEPTED, Filling, Rows
from springtide.engine.placement.filling import Portions, after, in_sets, room_of, unknown
from springtide.engine.placement.order import MUTEX, TOPOLOGY_AWARE, has_token
from springtide.engine.placement.trial import PERCENT
from springtide.model.columns import Bool
from springtide.model.device_columns import DeviceColumns
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.rounds import follows, taken_in_rounds
from springtide.vendors.nvidia.vector import NvidiaCells, codes_of


def fill(ask: NvidiaAsk, columns: DeviceColumns, rows: Rows) -> Filling:
    """Return how many such pods these rows take until they refuse one."""
    request = _only_request(ask)
    if request is None:
        return unknown(columns, rows)
    cells = NvidiaCells(ask, columns, rows)
    accepts: Bool = (codes_of(cells, request) == ACCEPTED) & cells.is_candidate
    portions = Portions(
        memory=cells.memory_asked(request.memory_mib, request.memory_pct or 0),
        cores=min(request.cores, PERCENT),
        cores_total=cells.cores_total,
    )
    taken = room_of(cells, portions, accepts, is_mutex=has_token(ask.device_policy, MUTEX))
    is_known = ~(columns.repeats[rows] | (accepts & cells.is_mig).any(axis=1))
    if request.count > 1 or has_token(ask.device_policy, TOPOLOGY_AWARE):
        is_known &= ~cells.spans_numa
    if request.count > 1:
        room = taken
        taken, is_even = in_sets(room, accepts, size=request.count)
        left = is_known & ~is_even & follows(ask, cells)
        in_rounds = taken_in_rounds(cells, portions, room, rows=left, size=request.count)
        taken = np.where(left[:, None], in_rounds, taken)
        is_known &= is_even | left
    return Filling(
        counts=taken.sum(axis=1) // request.count,
        is_known=is_known,
        after=after(columns, cells, portions, taken),
    )


def _only_request(ask: NvidiaAsk) -> Request | None:
    """Return the one request of a pod whose other containers ask for nothing."""
    requests = [request for request in ask.requests if request is not None]
    is_app = not any(ask.requests[: ask.init_count])
    return requests[0] if len(requests) == 1 and is_app and requests[0].count > 0 else None
