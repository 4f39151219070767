"""The words in which devices and nodes refuse. Public API: others match them, so spellings stay.

A counted reason reads `k/N Reason`: k of the N candidate devices refused for it. Whole-node reasons
have no count. The words are HAMi's, because schedulers, dashboards and people already match them.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeAlias


class Reason(StrEnum):
    """Why a device (counted) or a whole node (alone) does not serve an ask."""

    CARD_TYPE_MISMATCH = "CardTypeMismatch"
    CARD_UUID_MISMATCH = "CardUuidMismatch"
    CARD_TIME_SLICING_EXHAUSTED = "CardTimeSlicingExhausted"
    CARD_COMPUTE_UNITS_EXHAUSTED = "CardComputeUnitsExhausted"
    CARD_INSUFFICIENT_MEMORY = "CardInsufficientMemory"
    CARD_INSUFFICIENT_CORE = "CardInsufficientCore"
    CARD_NOT_HEALTH = "CardNotHealth"
    CARD_CORDONED = "CardCordoned"
    NUMA_NOT_FIT = "NumaNotFit"
    EXCLUSIVE_DEVICE_ALLOCATE_CONFLICT = "ExclusiveDeviceAllocateConflict"
    CARD_NOT_FOUND_CUSTOM_FILTER_RULE = "CardNotFoundCustomFilterRule"
    CARD_MIG_TOPOLOGY_INFEASIBLE = "CardMigTopologyInfeasible"
    NODE_INSUFFICIENT_DEVICE = "NodeInsufficientDevice"
    ALLOCATED_CARDS_INSUFFICIENT_REQUEST = "AllocatedCardsInsufficientRequest"
    RESOURCE_QUOTA_NOT_FIT = "ResourceQuotaNotFit"
    MODE_NOT_FIT = "ModeNotFit"


NODE_UNREGISTERED: Final = "node unregistered"
"""The whole-node reason where a node has registered no device of the family."""

Counts: TypeAlias = Mapping[str, int] | Mapping[Reason, int]

_COUNTED: Final = re.compile(r"([+-]?[0-9]+)/[+-]?[0-9]+ (\S+)")


def phrases(counts: Counts, total: int) -> tuple[str, ...]:
    """Return `k/N Reason` for every reason, sorted as texts (so `10/16 X` comes before `2/16 Y`)."""
    return tuple(sorted(f"{count}/{total} {reason}" for reason, count in counts.items()))


def text_of(counts: Counts, total: int) -> str:
    """Return the phrases as one text, empty for no reason at all."""
    return ", ".join(phrases(counts, total))


def parse(text: str) -> dict[str, int]:
    """Return the counts by reason in such a text; anything that is not counted is ignored."""
    matches = (_COUNTED.match(part) for part in text.split(", "))
    return {match[2]: int(match[1]) for match in matches if match is not None}
