"""Verdicts over many nodes at once: the checks of `fit`, in the same order, as array operations.

Every init container and the first app container are judged against the node as it is, so their
refusals are exact. Later app containers see what earlier ones took, which only `fit` can follow: a
row that passes is then an upper bound. The same holds for MIG cards, whose geometry is not looked
at here, and for NUMA binding across several NUMA nodes.
"""

from functools import lru_cache
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from springtide.engine.placement.family import ABSENT, ACCEPTED, Rows, Verdicts
from springtide.engine.placement.filters import type_matches, type_ok, uuid_ok
from springtide.engine.placement.order import MUTEX, TOPOLOGY_AWARE, has_token
from springtide.engine.placement.score import Float32, Sums, node_scores
from springtide.model.columns import Bool, DeviceColumns, Int32, Int64, distinct
from springtide.vendors.nvidia import codes, mig
from springtide.vendors.nvidia.ask import PERCENT, NvidiaAsk, Request
from springtide.vendors.nvidia.cards import mode_ok
from springtide.vendors.nvidia.config import FAMILY_NAME

Codes = npt.NDArray[np.uint8]

_TABLES_MAX: Final = 4096

_UINT8: Final = tuple(np.arange(256, dtype=np.uint8))
"""Codes as array scalars, made once: making one costs as much as an operation on a few rows."""


def evaluate(ask: NvidiaAsk, columns: DeviceColumns, rows: Rows) -> Verdicts:
    """Return the verdicts over these rows: the first refusing request's, or that all pass."""
    cells = Cells(ask, columns, rows)
    judged = [request for request in ask.requests[: ask.init_count] if request is not None]
    app = [request for request in ask.requests[ask.init_count :] if request is not None]
    verdicts: Verdicts | None = None
    for request in dict.fromkeys([*judged, *app[:1]]):
        answer = _judged(cells, request)
        verdicts = answer if verdicts is None else _joined(verdicts, answer)
    assert verdicts is not None
    if len(app) > 1:
        np.logical_and(verdicts.is_exact, ~verdicts.fits, out=verdicts.is_exact)
    if columns.closed:
        verdicts.is_exact[np.isin(rows, list(columns.closed))] = False
    return verdicts


def scores(ask: NvidiaAsk, columns: DeviceColumns, rows: Rows) -> Float32:
    """Return how loaded the nodes are; negative under the node policy spread."""
    loads = node_scores(
        _sums(columns.slots_used, columns.cores_used, columns.memory_used, rows),
        _sums(columns.slots_total, columns.cores_total, columns.memory_total, rows),
    )
    return -loads if ask.node_policy == "spread" else loads


def _sums(slots: Int32, cores: Int32, memory: Int32, rows: Rows) -> tuple[Sums, Sums, Sums]:
    return _sum(slots, rows), _sum(cores, rows), _sum(memory, rows)


def _sum(cells: Int32, rows: Rows) -> Sums:
    # Doubles hold these sums exactly, and a product is several times faster than a sum.
    total: Sums = np.dot(cells.take(rows, axis=0).astype(np.float64), np.ones(cells.shape[1]))
    return total


class Cells:
    """The cells of the rows in question, and what does not depend on the request."""

    def __init__(self, ask: NvidiaAsk, columns: DeviceColumns, rows: Rows) -> None:
        self.ask = ask
        self.rows = rows
        self.inventory: Int32 = columns.inventory.take(rows)
        self.numa: Int32 = columns.numa.take(rows, axis=0)
        self.memory_total: Int32 = columns.memory_total.take(rows, axis=0)
        self.memory_free: Int32 = self.memory_total - columns.memory_used.take(rows, axis=0)
        self.cores_total: Int32 = columns.cores_total.take(rows, axis=0)
        self.cores_used: Int32 = columns.cores_used.take(rows, axis=0)
        self.slots_total: Int32 = columns.slots_total.take(rows, axis=0)
        self.slots_used: Int32 = columns.slots_used.take(rows, axis=0)
        model: Int32 = columns.model.take(rows, axis=0)
        mode: Int32 = columns.mode.take(rows, axis=0)
        tables = _tables(ask, tuple(columns.types.values), tuple(columns.modes.values))
        self.is_candidate = _looked_up(tables.is_nvidia, model)
        self.is_candidate &= np.arange(columns.width) < columns.count.take(rows)[:, None]
        self.candidates = _per_row(self.is_candidate)
        self.is_bare = _looked_up(tables.is_bare, model)
        self.is_mig = _looked_up(tables.is_mig, mode) & self.is_candidate
        self.has_mig: Bool = _per_row(self.is_mig) > 0
        allowed = _looked_up(tables.type_ok, model) & _looked_up(tables.mode_ok, mode)
        self.lasting = self._lasting_codes(columns, allowed)
        self.spans_numa = self._spans_numa()

    def _lasting_codes(self, columns: DeviceColumns, allowed: Bool) -> Codes:
        """Return per cell the first check that no request changes."""
        rows = self.rows
        found: Codes = ~columns.healthy.take(rows, axis=0) * _UINT8[codes.UNHEALTHY]
        _count(found, columns.opaque.take(rows, axis=0) > 0, codes.OPAQUE)
        _count(found, columns.cordoned.take(rows, axis=0), codes.CORDONED)
        _count(found, ~allowed, codes.OTHER_TYPE)
        if self.ask.use_ids is not None or self.ask.avoid_ids is not None:
            _count(found, self._other_ids(columns), codes.OTHER_ID)
        _count(found, self.slots_total <= self.slots_used, codes.SLOTS_TAKEN)
        _count(found, self.slots_total <= 0, codes.WITHOUT_SLOTS)
        if has_token(self.ask.device_policy, MUTEX):
            _count(found, self.slots_used > 0, codes.MUTEX_TAKEN)
        return found

    def _other_ids(self, columns: DeviceColumns) -> Bool:
        """Return which cells hold a card whose id the ask does not allow, per distinct inventory."""
        use, avoid = self.ask.use_ids, self.ask.avoid_ids
        present = distinct(self.inventory)
        table: Bool = np.zeros((len(present), columns.width), np.bool_)
        for index, code in enumerate(present.tolist()):
            if code >= 0:
                devices = columns.inventories.values[code].devices
                table[index, : len(devices)] = [
                    not uuid_ok(device.id, use=use, avoid=avoid) for device in devices
                ]
        refused: Bool = table.take(np.searchsorted(present, self.inventory), axis=0)
        return refused

    def _spans_numa(self) -> Bool:
        if not self.ask.numa_bind:
            return np.zeros(len(self.rows), np.bool_)
        first = self.is_candidate.argmax(axis=1)
        numa = np.take_along_axis(self.numa, first[:, None], axis=1)
        return np.asarray(_per_row((self.numa != numa) & self.is_candidate) > 0)


class _Tables(msgspec.Struct, frozen=True):
    """What an ask makes of registered types and modes, by their codes."""

    is_nvidia: Bool
    is_bare: Bool
    is_mig: Bool
    type_ok: Bool
    mode_ok: Bool


@lru_cache(maxsize=_TABLES_MAX)
def _tables(ask: NvidiaAsk, types: tuple[str, ...], modes: tuple[str, ...]) -> _Tables:
    use, avoid = ask.use_types, ask.avoid_types
    return _Tables(
        is_nvidia=_table([type_matches(FAMILY_NAME, name) for name in types]),
        is_bare=_table([name == FAMILY_NAME for name in types]),
        is_mig=_table([name == mig.MODE for name in modes]),
        type_ok=_table([type_ok(name, use=use, avoid=avoid) for name in types]),
        mode_ok=_table([mode_ok(ask, name) for name in modes]),
    )


def _table(flags: list[bool]) -> Bool:
    # Never empty, so that the code 0 of cells without a card can be looked up.
    return np.array(flags or [False], np.bool_)


def _looked_up(table: Bool, cells: Int32) -> Bool:
    found: Bool = table.take(cells)
    return found


def _per_row(cells: Bool) -> Float32:
    """Return how many cells of each row are true; a product is much faster than a sum here."""
    counts: Float32 = np.dot(cells.astype(np.float32), _ones(cells.shape[1]))
    return counts


@lru_cache(maxsize=64)
def _ones(width: int) -> Float32:
    return np.ones(width, np.float32)


def _count(found: Codes, refuses: Bool, code: int) -> None:
    """Note a check where it refuses, unless an earlier one (a larger number) did."""
    np.maximum(found, np.multiply(refuses, _UINT8[code]), out=found)


def _judged(cells: Cells, request: Request) -> Verdicts:
    ask, wanted = cells.ask, request.count
    found = codes_of(cells, request)
    accepts = (found == ACCEPTED) & cells.is_candidate
    is_mig_free: Bool = _per_row(accepts & cells.is_mig) > 0
    fits: Bool = (_per_row(accepts) >= wanted) | is_mig_free
    is_numa_blind = wanted == 1 and not has_token(ask.device_policy, TOPOLOGY_AWARE)
    is_exact = ~is_mig_free if is_numa_blind else ~(is_mig_free | cells.spans_numa)
    is_short: Bool = cells.candidates < wanted
    if ask.accepts_mig:
        is_short &= ~cells.has_mig
    _count(found, ~cells.is_candidate, ABSENT)
    for refused, code in (
        (is_short, codes.NODE_SHORT),
        (cells.inventory < 0, codes.UNREGISTERED),
    ):
        if refused.any():
            found[refused] = code
            fits[refused] = False
            is_exact[refused] = True
    return Verdicts(fits=fits, is_exact=is_exact, codes=found)


def codes_of(cells: Cells, request: Request) -> Codes:
    """Return per cell the first check that refuses it."""
    found = cells.lasting.copy()
    memory = memory_asked(cells, request)
    _count(found, cells.memory_total < memory, codes.MEMORY_TOO_SMALL)
    _count(found, cells.memory_free < memory, codes.MEMORY_TAKEN)
    total, used, cores = cells.cores_total, cells.cores_used, min(request.cores, PERCENT)
    _count(found, total < cores, codes.CORES_TOO_FEW)
    _count(found, (total - used) < cores, codes.CORES_TAKEN)
    if cores == PERCENT:
        _count(found, (total == PERCENT) & (cells.slots_used > 0), codes.EXCLUSIVE_TAKEN)
    if cores == 0:
        _count(found, (total != 0) & (used == total), codes.COMPUTE_TAKEN)
    return found


def memory_asked(cells: Cells, request: Request) -> Int32 | Int64 | int:
    if request.memory_mib:
        return request.memory_mib
    if request.memory_pct == PERCENT:
        return cells.memory_total
    asked: Int64 = cells.memory_total.astype(np.int64) * (request.memory_pct or 0) // PERCENT
    return asked


def _joined(earlier: Verdicts, later: Verdicts) -> Verdicts:
    """Return the earlier verdicts where they refuse, the later ones where they pass."""
    return Verdicts(
        fits=earlier.fits & later.fits,
        is_exact=earlier.is_exact & (later.is_exact | ~earlier.fits),
        codes=np.where(earlier.fits[:, None], later.codes, earlier.codes),
    )
