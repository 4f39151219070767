"""What ends the room: the reasons of the nodes that take no further pod, counted."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from springtide.apps.headroom.report import LimitReport
from springtide.engine.placement.family import Rows
from springtide.engine.placement.reasons import Reason, parse
from springtide.model.refusal import Refusal


class _Key(msgspec.Struct, frozen=True):
    reason: str
    is_lasting: bool


class _Count:
    __slots__ = ("devices", "nodes")

    def __init__(self) -> None:
        self.nodes = 0
        self.devices = 0


Counts = dict[_Key, _Count]


def limits_by_pool(
    refusals: Iterable[tuple[Refusal, Rows]], of_row: Rows, *, pools: int
) -> tuple[tuple[LimitReport, ...], list[tuple[LimitReport, ...]]]:
    """Return the reasons of all nodes, and those of each pool's."""
    every: Counts = {}
    each: Sequence[Counts] = [{} for _ in range(pools)]
    for refusal, rows in refusals:
        named = list(_named(refusal))
        in_pools = np.bincount(of_row[rows], minlength=pools)
        for pool in np.flatnonzero(in_pools).tolist():
            for counts in (every, each[pool]):
                _add(counts, named, refusal, nodes=int(in_pools[pool]))
    return _told(every), [_told(counts) for counts in each]


def _named(refusal: Refusal) -> list[tuple[str, int]]:
    """Return the reasons of a refusal, each with the number of devices that give it."""
    counted = parse(refusal.text)
    if counted:
        return list(counted.items())
    return [(reason, 0) for reason in refusal.reasons]


def _add(counts: Counts, named: Iterable[tuple[str, int]], refusal: Refusal, *, nodes: int) -> None:
    for reason, devices in named:
        count = counts.setdefault(_Key(reason, refusal.is_unresolvable), _Count())
        count.nodes += nodes
        count.devices += nodes * devices


def _told(counts: Counts) -> tuple[LimitReport, ...]:
    found = [
        LimitReport(
            reason=key.reason,
            nodes=count.nodes,
            devices=count.devices,
            is_lasting=key.is_lasting,
        )
        for key, count in counts.items()
    ]
    return tuple(sorted(found, key=_rank))


def _rank(limit: LimitReport) -> tuple[bool, bool, int, int, str]:
    # Devices that would do, but are too few, are not what is in the way.
    is_rest = limit.reason == Reason.ALLOCATED_CARDS_INSUFFICIENT_REQUEST
    return limit.is_lasting, is_rest, -limit.nodes, -limit.devices, limit.reason
