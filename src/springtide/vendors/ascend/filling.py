"""How many equal pods many nodes take, for pods one of whose containers takes one kind of chip.

What is left to placing one by one: other pods, chips in modules, several chips that may serve more
than once, and nodes that register an id twice.
"""

from springtide.engine.placement.family import ACCEPTED, Filling, Rows
from springtide.engine.placement.filling import Portions, after, in_sets, room_of, unknown
from springtide.engine.placement.order import MUTEX, has_token
from springtide.engine.placement.trial import PERCENT
from springtide.model.columns import Bool
from springtide.model.device_columns import DeviceColumns
from springtide.vendors.ascend.ask import AscendAsk, Request, cores_asked
from springtide.vendors.ascend.vector import AscendCells, codes_of


def fill(ask: AscendAsk, columns: DeviceColumns, rows: Rows) -> Filling:
    """Return how many such pods these rows take until they refuse one."""
    request = _only_request(ask)
    if request is None:
        return unknown(columns, rows)
    cells = AscendCells(columns, rows)
    accepts: Bool = (codes_of(cells, ask, request) == ACCEPTED) & cells.of_chip(request)
    portions = Portions(
        memory=cells.memory_asked(request.memory_mib, PERCENT),
        cores=cores_asked(request),
        cores_total=PERCENT if ask.is_soft else cells.cores_total,
    )
    taken = room_of(cells, portions, accepts, is_mutex=has_token(ask.device_policy, MUTEX))
    is_known = ~columns.repeats[rows]
    if request.count > 1:
        taken, is_even = in_sets(taken, accepts, size=request.count)
        is_known &= is_even
    return Filling(
        counts=taken.sum(axis=1) // request.count,
        is_known=is_known,
        after=after(columns, cells, portions, taken),
    )


def _only_request(ask: AscendAsk) -> Request | None:
    """Return the one request of a pod whose other containers ask for nothing."""
    requests = ask.all_requests()
    is_app = not any(ask.requests[: ask.init_count])
    if len(requests) != 1 or not is_app or requests[0].needs_pairs or requests[0].count < 1:
        return None
    return requests[0]
