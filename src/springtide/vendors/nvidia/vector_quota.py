"""What a quota says of many nodes at once, where it bounds an ask.

A card whose own share is more than what is left is refused exactly as placing would refuse it. A
request for several cards, or a pod of several requests, uses up the allowance on its way: there a row
is refused where even the smallest shares are too much together, and who was refused for it only `fit`
can tell.
"""

import numpy as np

from springtide.engine.placement import checks
from springtide.engine.placement.amounts import INT32_MAX
from springtide.engine.placement.cells import Cells, Codes, MemoryAsked, note
from springtide.engine.placement.family import ACCEPTED, Verdicts
from springtide.engine.placement.trial import PERCENT
from springtide.model.columns import Bool, Int64
from springtide.vendors.nvidia.ask import Allowance, NvidiaAsk, Request


def note_quota(found: Codes, cells: Cells, *, request: Request, allowance: Allowance) -> None:
    """Note the check of the quota."""
    left_mib, left_cores = allowance.memory_mib, allowance.cores
    if left_mib is not None:
        refuses = np.greater(_memory(cells, request), left_mib)
        note(found, np.broadcast_to(refuses, found.shape), checks.QUOTA_EXCEEDED)
    if left_cores is not None and min(request.cores, PERCENT) > left_cores:
        note(found, np.ones(found.shape, np.bool_), checks.QUOTA_EXCEEDED)


def bound(
    verdicts: Verdicts, cells: Cells, *, request: Request, ask: NvidiaAsk, allowance: Allowance
) -> None:
    """Refuse rows that the quota cannot serve, and call inexact what only placing can tell."""
    requests = [each for each in ask.requests if each is not None]
    if len(requests) > 1:
        # The cards of one container count for the next one too.
        verdicts.is_exact[verdicts.fits | (request != requests[0])] = False
    if request.count > 1:
        # Of one init container a card is charged once, however often it serves.
        is_summed = request not in ask.requests[: ask.init_count]
        _bound_together(verdicts, cells, request=request, allowance=allowance, is_summed=is_summed)


def _bound_together(
    verdicts: Verdicts, cells: Cells, *, request: Request, allowance: Allowance, is_summed: bool
) -> None:
    accepts: Bool = verdicts.codes == ACCEPTED
    memory = np.broadcast_to(np.asarray(_memory(cells, request), np.int64), accepts.shape)
    cores = request.count * min(request.cores, PERCENT)
    least = np.where(accepts, memory, INT32_MAX).min(axis=1) * request.count
    most = np.where(accepts, memory, 0).max(axis=1) * request.count
    may_serve = accepts.any(axis=1)
    verdicts.is_exact[may_serve & _exceeds(most, cores, allowance)] = False
    if is_summed:
        verdicts.fits[may_serve & _exceeds(least, cores, allowance)] = False


def _exceeds(memory: Int64, cores: int, allowance: Allowance) -> Bool:
    """Return which rows take more than is left, if they take so much."""
    found: Bool = np.zeros(len(memory), np.bool_)
    if allowance.memory_mib is not None:
        found |= memory > allowance.memory_mib
    if allowance.cores is not None:
        found |= cores > allowance.cores
    return found


def _memory(cells: Cells, request: Request) -> MemoryAsked:
    return cells.memory_asked(request.memory_mib, request.memory_pct or 0)
