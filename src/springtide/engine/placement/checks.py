"""Why one device refuses one request, as small numbers: the checks in order, and their reasons.

The earlier a check, the larger its number, so that the first check of many is their maximum. The
order is that of HAMi's standard fit, which all families share; a family leaves out what it has not.

A number says more than its reason: whether anything that runs on the device stands in the way, or
the device could not serve the request even if it were empty.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.engine.placement.family import ABSENT, ACCEPTED
from springtide.engine.placement.reasons import NODE_UNREGISTERED, Reason, text_of
from springtide.model.refusal import Refusal

UNHEALTHY: Final = 17
OPAQUE: Final = 16
CORDONED: Final = 15
OTHER_TYPE: Final = 14
OTHER_ID: Final = 13
WITHOUT_SLOTS: Final = 12
SLOTS_TAKEN: Final = 11
MUTEX_TAKEN: Final = 10
QUOTA_EXCEEDED: Final = 9
MEMORY_TOO_SMALL: Final = 8
MEMORY_TAKEN: Final = 7
CORES_TOO_FEW: Final = 6
CORES_TAKEN: Final = 5
EXCLUSIVE_TAKEN: Final = 4
COMPUTE_TAKEN: Final = 3
MIG_INFEASIBLE: Final = 2
NUMA_LEFT: Final = 1
"""Not a card's own verdict: picked devices that were given up as NUMA binding moved on."""

NODE_SHORT: Final = 200
"""In every cell of a row: the node has fewer candidates than the request wants."""

UNREGISTERED: Final = 201
"""In every cell of a row: the node has registered nothing."""

NODE_MODE: Final = 202
"""In every candidate's cell: the node as a whole cannot share devices as the request wants."""

REASONS: Final[Mapping[int, Reason]] = {
    UNHEALTHY: Reason.CARD_NOT_HEALTH,
    OPAQUE: Reason.CARD_NOT_HEALTH,
    CORDONED: Reason.CARD_CORDONED,
    OTHER_TYPE: Reason.CARD_TYPE_MISMATCH,
    OTHER_ID: Reason.CARD_UUID_MISMATCH,
    WITHOUT_SLOTS: Reason.CARD_TIME_SLICING_EXHAUSTED,
    SLOTS_TAKEN: Reason.CARD_TIME_SLICING_EXHAUSTED,
    MUTEX_TAKEN: Reason.EXCLUSIVE_DEVICE_ALLOCATE_CONFLICT,
    QUOTA_EXCEEDED: Reason.RESOURCE_QUOTA_NOT_FIT,
    MEMORY_TOO_SMALL: Reason.CARD_INSUFFICIENT_MEMORY,
    MEMORY_TAKEN: Reason.CARD_INSUFFICIENT_MEMORY,
    CORES_TOO_FEW: Reason.CARD_INSUFFICIENT_CORE,
    CORES_TAKEN: Reason.CARD_INSUFFICIENT_CORE,
    EXCLUSIVE_TAKEN: Reason.EXCLUSIVE_DEVICE_ALLOCATE_CONFLICT,
    COMPUTE_TAKEN: Reason.CARD_COMPUTE_UNITS_EXHAUSTED,
    MIG_INFEASIBLE: Reason.CARD_MIG_TOPOLOGY_INFEASIBLE,
    NUMA_LEFT: Reason.NUMA_NOT_FIT,
}

BEFORE_NUMA: Final = frozenset({UNHEALTHY, OPAQUE, CORDONED, OTHER_TYPE})
"""Checks that refuse a device before NUMA binding looks at it."""

LASTING: Final = frozenset(
    {UNHEALTHY, CORDONED, OTHER_TYPE, OTHER_ID, WITHOUT_SLOTS, MEMORY_TOO_SMALL, CORES_TOO_FEW}
)
"""Checks that would refuse the device even if nothing ran on it."""


def refusal_of(
    family: str, counts: Mapping[int, int], *, picked: int, total: int, tells_none: bool = False
) -> Refusal:
    """Return the refusal of a node: devices by code, how many would do, number of candidates.

    That none would do is said only where `tells_none`.
    """
    reasons: dict[str, int] = {}
    for code, count in counts.items():
        reasons[REASONS[code]] = reasons.get(REASONS[code], 0) + count
    if picked or tells_none:
        reasons[Reason.ALLOCATED_CARDS_INSUFFICIENT_REQUEST] = picked
    return Refusal(
        rule=family,
        # One reason, as an extender's message is one to kube-scheduler.
        reasons=(text_of(reasons, total),),
        is_unresolvable=not picked and counts.keys() <= LASTING,
    )


def refusal_of_codes(family: str, codes: npt.NDArray[np.uint8]) -> Refusal:
    """Return the refusal that one row's codes amount to."""
    found: dict[int, int] = {}
    for code in codes.tolist():
        found[code] = found.get(code, 0) + 1
    if NODE_SHORT in found:
        return node_short(family)
    if UNREGISTERED in found:
        return Refusal(rule=family, reasons=(NODE_UNREGISTERED,), is_unresolvable=True)
    if NODE_MODE in found:
        return node_mode(family, found[NODE_MODE])
    found.pop(ABSENT, None)
    total = sum(found.values())
    return refusal_of(family, found, picked=found.pop(ACCEPTED, 0), total=total)


def node_short(family: str) -> Refusal:
    """Return the refusal of a node with fewer candidates than the request wants."""
    return Refusal(rule=family, reasons=(Reason.NODE_INSUFFICIENT_DEVICE,), is_unresolvable=True)


def node_mode(family: str, total: int) -> Refusal:
    """Return the refusal of a node whose so many candidates are not shared as the request wants."""
    reasons = (text_of({Reason.MODE_NOT_FIT: 1}, total),)
    return Refusal(rule=family, reasons=reasons, is_unresolvable=True)
