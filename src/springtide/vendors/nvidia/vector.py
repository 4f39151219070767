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

from springtide.engine.placement import checks
from springtide.engine.placement.cells import (
    Cells,
    Codes,
    joined,
    looked_up,
    note,
    per_row,
    settle,
    table,
    without_alarm,
)
from springtide.engine.placement.family import ACCEPTED, Rows, Verdicts
from springtide.engine.placement.filters import type_matches, type_ok
from springtide.engine.placement.order import MUTEX, TOPOLOGY_AWARE, has_token
from springtide.engine.placement.trial import PERCENT
from springtide.model.columns import Bool, Int32
from springtide.model.device_columns import DeviceColumns
from springtide.vendors.nvidia import mig
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.cards import mode_ok
from springtide.vendors.nvidia.config import FAMILY_NAME
from springtide.vendors.nvidia.screening import judged_alone
from springtide.vendors.nvidia.vector_quota import bound, note_quota

_TABLES_MAX: Final = 4096


@without_alarm
def evaluate(ask: NvidiaAsk, columns: DeviceColumns, rows: Rows) -> Verdicts:
    """Return the verdicts over these rows: the first refusing request's, or that all pass."""
    cells = NvidiaCells(ask, columns, rows)
    app = [request for request in ask.requests[ask.init_count :] if request is not None]
    verdicts: Verdicts | None = None
    for request in judged_alone(ask):
        answer = _judged(cells, request)
        if ask.allowance is not None:
            bound(answer, cells, request=request, ask=ask, allowance=ask.allowance)
        verdicts = answer if verdicts is None else joined(verdicts, answer)
    assert verdicts is not None
    if len(app) > 1:
        np.logical_and(verdicts.is_exact, ~verdicts.fits, out=verdicts.is_exact)
    if columns.closed:
        verdicts.is_exact[np.isin(rows, list(columns.closed))] = False
    return verdicts


class NvidiaCells(Cells):
    """The cells of the rows in question, and what does not depend on the request."""

    def __init__(self, ask: NvidiaAsk, columns: DeviceColumns, rows: Rows) -> None:
        super().__init__(columns, rows)
        self.ask = ask
        self.numa: Int32 = columns.numa.take(rows, axis=0)
        tables = _tables(ask, tuple(columns.types.values), tuple(columns.modes.values))
        self.is_candidate = self.candidates(tables.is_nvidia)
        self.candidate_count = per_row(self.is_candidate)
        self.is_bare = looked_up(tables.is_bare, self.model)
        self.is_mig = looked_up(tables.is_mig, self.mode) & self.is_candidate
        self.has_mig: Bool = per_row(self.is_mig) > 0
        allowed = looked_up(tables.type_ok, self.model) & looked_up(tables.mode_ok, self.mode)
        self.lasting = self._lasting_codes(allowed)
        self.spans_numa = self._spans_numa()

    def _lasting_codes(self, allowed: Bool) -> Codes:
        """Return per cell the first check that no request changes."""
        ask, columns, rows = self.ask, self.columns, self.rows
        found = self.unhealthy()
        note(found, columns.opaque.take(rows, axis=0) > 0, checks.OPAQUE)
        note(found, columns.cordoned.take(rows, axis=0), checks.CORDONED)
        note(found, ~allowed, checks.OTHER_TYPE)
        if ask.use_ids is not None or ask.avoid_ids is not None:
            note(found, self.other_ids(ask.use_ids, ask.avoid_ids), checks.OTHER_ID)
        self.check_slots(found, is_mutex=has_token(ask.device_policy, MUTEX))
        return found

    def _spans_numa(self) -> Bool:
        if not self.ask.numa_bind:
            return np.zeros(len(self.rows), np.bool_)
        first = self.is_candidate.argmax(axis=1)
        numa = np.take_along_axis(self.numa, first[:, None], axis=1)
        return np.asarray(per_row((self.numa != numa) & self.is_candidate) > 0)


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
        is_nvidia=table([type_matches(FAMILY_NAME, name) for name in types]),
        is_bare=table([name == FAMILY_NAME for name in types]),
        is_mig=table([name == mig.MODE for name in modes]),
        type_ok=table([type_ok(name, use=use, avoid=avoid) for name in types]),
        mode_ok=table([mode_ok(ask, name) for name in modes]),
    )


def _judged(cells: NvidiaCells, request: Request) -> Verdicts:
    ask, wanted = cells.ask, request.count
    found = codes_of(cells, request)
    accepts = (found == ACCEPTED) & cells.is_candidate
    is_mig_free: Bool = per_row(accepts & cells.is_mig) > 0
    fits: Bool = (per_row(accepts) >= wanted) | is_mig_free
    is_numa_blind = wanted == 1 and not has_token(ask.device_policy, TOPOLOGY_AWARE)
    is_exact = ~is_mig_free if is_numa_blind else ~(is_mig_free | cells.spans_numa)
    is_short: Bool = cells.candidate_count < wanted
    if ask.accepts_mig:
        is_short &= ~cells.has_mig
    verdicts = Verdicts(fits=fits, is_exact=is_exact, codes=found)
    whole = ((is_short, checks.NODE_SHORT), (cells.inventory < 0, checks.UNREGISTERED))
    settle(verdicts, cells.is_candidate, whole)
    return verdicts


def codes_of(cells: NvidiaCells, request: Request) -> Codes:
    """Return per cell the first check that refuses it."""
    found = cells.lasting.copy()
    cells.check_memory(found, cells.memory_asked(request.memory_mib, request.memory_pct or 0))
    cells.check_cores(found, min(request.cores, PERCENT), total=cells.cores_total)
    if cells.ask.allowance is not None:
        note_quota(found, cells, request=request, allowance=cells.ask.allowance)
    return found
