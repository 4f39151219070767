"""What may be chosen about how replicas are decided, and the two bundles of choices.

`SAFE` is what a new fleet takes. `LEGACY` moves as older fleets do where that can be seen and harms
nobody. Each choice can be made alone.
"""

from enum import StrEnum
from typing import Final

import msgspec


class WindowMode(StrEnum):
    """How demand is calmed."""

    KUBERNETES = "kubernetes"
    GROW = "grow"


class Rounding(StrEnum):
    """How a total over a threshold becomes replicas."""

    CEIL = "ceil"
    TRUNCATE = "truncate"


class Publication(StrEnum):
    """When others see that more replicas are wanted; fewer are never shown early."""

    AFTER_SCHEDULE = "after_schedule"
    EARLY = "early"


class ElectionMode(StrEnum):
    """Who leads: the holder of a lease, or whoever is first in the order of all."""

    LEASE = "lease"
    DETERMINISTIC = "deterministic"


class Mode(StrEnum):
    """Whether decisions move anything, are only shown, or every member is to leave."""

    ACTIVE = "active"
    OBSERVE = "observe"
    DRAIN_ALL = "drain_all"


class Allocation(StrEnum):
    """Which number a member without an ordinal has: its place among all, or one that it keeps."""

    SORTED = "sorted"
    ALLOCATED = "allocated"


class Knobs(msgspec.Struct, frozen=True, kw_only=True):
    """One choice of each kind; where `waits_for_drain`, fewer are shown only once they drained."""

    window_mode: WindowMode = WindowMode.KUBERNETES
    rounding: Rounding = Rounding.CEIL
    publication: Publication = Publication.AFTER_SCHEDULE
    election: ElectionMode = ElectionMode.LEASE
    mode: Mode = Mode.ACTIVE
    allocation: Allocation = Allocation.SORTED
    preempt_up: bool = True
    rank_slack: int = 0
    do_followers_export: bool = True
    is_strict_time: bool = False
    allows_zero: bool = False
    waits_for_drain: bool = False


SAFE: Final = Knobs()
LEGACY: Final = Knobs(
    window_mode=WindowMode.GROW,
    rounding=Rounding.TRUNCATE,
    election=ElectionMode.DETERMINISTIC,
    preempt_up=False,
    rank_slack=1,
    do_followers_export=False,
    is_strict_time=True,
    allows_zero=True,
)
