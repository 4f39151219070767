"""Verdicts over many nodes at once: the checks of `fit`, in the same order, as array operations.

Every init container and the first app container are judged against the node as it is, so their
refusals are exact. Later app containers, and further kinds of chip in one container, see what was
taken before, which only `fit` can follow: a row that passes is then an upper bound. Where chips are
given in pairs a refusal is final, but its numbers are left to `fit`.
"""

from functools import lru_cache
from typing import Final

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
from springtide.engine.placement.filters import type_matches
from springtide.engine.placement.order import MUTEX, has_token
from springtide.engine.placement.trial import PERCENT
from springtide.model.columns import Bool, Int32, distinct
from springtide.model.device_columns import DeviceColumns
from springtide.vendors.ascend import topology
from springtide.vendors.ascend.ask import AscendAsk, Request, cores_asked
from springtide.vendors.ascend.config import SOFT

_TABLES_MAX: Final = 4096


@without_alarm
def evaluate(ask: AscendAsk, columns: DeviceColumns, rows: Rows) -> Verdicts:
    """Return the verdicts over these rows: the first refusing request's, or that all pass."""
    cells = AscendCells(columns, rows)
    init = [wanted for wanted in ask.requests[: ask.init_count] if wanted is not None]
    app = [wanted for wanted in ask.requests[ask.init_count :] if wanted is not None]
    verdicts: Verdicts | None = None
    for wanted in dict.fromkeys([*init, *app[:1]]):
        for index, request in enumerate(wanted):
            answer = _judged(cells, ask, request)
            if index:
                answer.is_exact[:] = False
            verdicts = answer if verdicts is None else joined(verdicts, answer)
    assert verdicts is not None
    if len(app) > 1:
        np.logical_and(verdicts.is_exact, ~verdicts.fits, out=verdicts.is_exact)
    return verdicts


class AscendCells(Cells):
    """The cells of the rows in question."""

    def of_chip(self, request: Request) -> Bool:
        """Return which cells hold a chip of the kind that is asked for."""
        return self.candidates(_is_type(request.chip.word, tuple(self.columns.types.values)))


@lru_cache(maxsize=_TABLES_MAX)
def _is_type(word: str, types: tuple[str, ...]) -> Bool:
    return table([type_matches(word, name) for name in types])


@lru_cache(maxsize=_TABLES_MAX)
def _is_hard(modes: tuple[str, ...]) -> Bool:
    return table([mode != SOFT for mode in modes])


def _judged(cells: AscendCells, ask: AscendAsk, request: Request) -> Verdicts:
    is_candidate = cells.of_chip(request)
    found = codes_of(cells, ask, request)
    accepts = (found == ACCEPTED) & is_candidate
    if request.needs_pairs:
        verdicts = _in_pairs(cells, request, found, accepts)
    else:
        fits: Bool = per_row(accepts) >= request.count
        verdicts = Verdicts(fits=fits, is_exact=np.ones(len(fits), np.bool_), codes=found)
    if ask.is_soft:
        _refuse_hard(cells, is_candidate, verdicts)
    is_short: Bool = per_row(is_candidate) < request.count
    whole = ((is_short, checks.NODE_SHORT), (cells.inventory < 0, checks.UNREGISTERED))
    settle(verdicts, is_candidate, whole)
    return verdicts


def codes_of(cells: AscendCells, ask: AscendAsk, request: Request) -> Codes:
    """Return per cell the first check that refuses it."""
    found = cells.unhealthy()
    if request.use_ids is not None or request.avoid_ids is not None:
        note(found, cells.other_ids(request.use_ids, request.avoid_ids), checks.OTHER_ID)
    cells.check_slots(found, is_mutex=has_token(ask.device_policy, MUTEX))
    cells.check_memory(found, cells.memory_asked(request.memory_mib, PERCENT))
    total = PERCENT if ask.is_soft else cells.cores_total
    cells.check_cores(found, cores_asked(request), total=total)
    return found


def _refuse_hard(cells: AscendCells, is_candidate: Bool, verdicts: Verdicts) -> None:
    """Refuse the rows whose chips are only cut by templates."""
    is_hard = looked_up(_is_hard(tuple(cells.columns.modes.values)), cells.mode) & is_candidate
    refused: Bool = per_row(is_hard) > 0
    note(verdicts.codes, refused[:, None] & is_candidate, checks.NODE_MODE)
    verdicts.fits[refused] = False
    verdicts.is_exact[refused] = True


def _in_pairs(cells: AscendCells, request: Request, found: Codes, accepts: Bool) -> Verdicts:
    """Return which rows have as many chips in whole modules, per distinct inventory."""
    present = distinct(cells.inventory)
    partner: Int32 = np.tile(np.arange(cells.columns.width, dtype=np.int32), (len(present), 1))
    is_clear = np.ones(len(present), np.bool_)
    for index, code in enumerate(present.tolist()):
        positions = topology.partners(cells.columns.inventories.values[code]) if code >= 0 else ()
        if positions is None:
            is_clear[index] = False
        else:
            partner[index, : len(positions)] = positions
    which = np.searchsorted(present, cells.inventory)
    others = partner.take(which, axis=0)
    is_own = others == np.arange(cells.columns.width)
    paired = accepts & np.take_along_axis(accepts, others, axis=1) & ~is_own
    clear = is_clear.take(which)
    enough = np.where(clear, per_row(paired), per_row(accepts)) >= request.count
    fits: Bool = np.logical_and(enough, request.count % 2 == 0)
    return Verdicts(fits=fits, is_exact=fits & clear, codes=found)
