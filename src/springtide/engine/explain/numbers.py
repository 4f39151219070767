"""The numbers behind the devices' refusal of a pod, as sentences.

Rows that say the same are told together, so what is free is the most that any of their devices has.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec
import numpy as np

from springtide.engine.explain.verdicts import Cells
from springtide.engine.explain.words import count, joined, memory
from springtide.engine.placement.reasons import NODE_UNREGISTERED, Reason, parse
from springtide.engine.placement.wishes import Wish, WishKind
from springtide.model.columns import distinct
from springtide.model.refusal import Refusal

_PERCENT: Final = 100
_EVERY: Final = {1: "the only device", 2: "both devices"}

Wishes = Mapping[WishKind, Wish]


class _About(msgspec.Struct, frozen=True):
    """One reason: of how many devices of a node, and all such devices of the nodes as cells."""

    number: int
    total: int
    cells: Cells
    wishes: Wishes

    @property
    def some(self) -> str:
        """Return how many devices this is about."""
        if self.number == self.total:
            return _EVERY.get(self.total, f"all {self.total} devices")
        return f"{self.number} of {self.total} devices"

    @property
    def is_one(self) -> bool:
        """Return whether the verb is in the singular."""
        return self.number == 1

    def asked(self, kind: WishKind) -> int:
        """Return what is asked of this kind, in the family's unit, 0 if nothing."""
        wish = self.wishes.get(kind)
        return 0 if wish is None else wish.asked * wish.factor


def device_sentence(refusal: Refusal, cells: Cells | None, wishes: Iterable[Wish]) -> str:
    """Return what these devices, of nodes that all refuse in the same words, lack."""
    if NODE_UNREGISTERED in refusal.reasons or cells is None:
        return (
            f"no {refusal.rule} device is registered there; if it has some, start its device plugin"
        )
    by_kind = {wish.kind: wish for wish in wishes}
    counts = parse(refusal.text)
    if not counts:
        return _whole_node(refusal, cells, by_kind)
    total = _total(refusal.text)
    parts = (
        _told(reason, _About(number, total, cells.of_reason(reason), by_kind))
        for reason, number in sorted(counts.items(), key=lambda item: -item[1])
    )
    return "; ".join(parts)


def _total(text: str) -> int:
    """Return how many candidates a counted text is about."""
    return int(text.partition("/")[2].partition(" ")[0])


def _told(reason: str, about: _About) -> str:
    tell = _SENTENCES.get(reason)
    return f"{about.some}: {reason}" if tell is None else tell(about)


def _whole_node(refusal: Refusal, cells: Cells, wishes: Wishes) -> str:
    if Reason.NODE_INSUFFICIENT_DEVICE not in refusal.reasons:
        return refusal.detail
    wish = wishes.get(WishKind.DEVICES)
    asked = 0 if wish is None else wish.asked
    most = int(cells.columns.count[cells.rows].max(initial=0))
    others = " of another" if 0 < asked <= most else ""
    return f"the node has {count(most, 'device')} of type {_types_of(cells)}, {asked}{others} asked"


def _types_of(cells: Cells) -> str:
    columns = cells.columns
    found = distinct(cells.of(columns.model)).tolist()
    return joined(sorted(columns.types.values[code] or "unnamed" for code in found))


def _memory(about: _About) -> str:
    lacks = f"{about.some} {'lacks' if about.is_one else 'lack'} memory"
    cells = about.cells
    totals = cells.of(cells.columns.memory_total)
    free = totals - cells.of(cells.columns.memory_used)
    freest = int(free.argmax())
    of = "" if free[freest] == totals[freest] else f" of {memory(int(totals[freest]))}"
    largest = memory(int(free[freest]))
    asked = about.asked(WishKind.MEMORY)
    if asked:
        return f"{lacks}: largest free is {largest}{of}, {memory(asked)} asked"
    part = int((free.astype(np.int64) * _PERCENT // np.maximum(totals, 1)).max())
    pct = about.asked(WishKind.MEMORY_PART) or _PERCENT
    whole = "a whole device" if pct == _PERCENT else f"{pct}%"
    return f"{lacks}: the freest has {part}% free, {whole} asked"


def _cores(about: _About) -> str:
    lacks = f"{about.some} {'lacks' if about.is_one else 'lack'} cores"
    cells = about.cells
    free = cells.of(cells.columns.cores_total) - cells.of(cells.columns.cores_used)
    most = int(free.max(initial=0))
    return f"{lacks}: most free are {most}, {about.asked(WishKind.CORES)} asked"


def _types(about: _About) -> str:
    are = "is" if about.is_one else "are"
    types = _types_of(about.cells)
    return f"{about.some} {are} of a type or mode that the pod does not accept: {types}"


def _shared(about: _About) -> str:
    most = int(about.cells.of(about.cells.columns.slots_total).max(initial=0))
    has = "has" if about.is_one else "have"
    return f"{about.some} {has} as many containers as may share one ({most})"


def _exclusive(about: _About) -> str:
    is_in = "is" if about.is_one else "are"
    return f"{about.some} {is_in} in use, and the pod wants its devices for itself"


def _would_do(about: _About) -> str:
    return f"{about.some} would do, {about.asked(WishKind.DEVICES)} asked"


def _verb(one: str, many: str) -> Callable[[_About], str]:
    return lambda about: f"{about.some} {one if about.is_one else many}"


_SENTENCES: Final[Mapping[str, Callable[[_About], str]]] = {
    Reason.CARD_INSUFFICIENT_MEMORY: _memory,
    Reason.CARD_INSUFFICIENT_CORE: _cores,
    Reason.CARD_TYPE_MISMATCH: _types,
    Reason.CARD_UUID_MISMATCH: _verb("is not one that the pod names", "are not what the pod names"),
    Reason.CARD_TIME_SLICING_EXHAUSTED: _shared,
    Reason.CARD_COMPUTE_UNITS_EXHAUSTED: _verb("has no core left", "have no core left"),
    Reason.CARD_NOT_HEALTH: _verb("is unhealthy", "are unhealthy"),
    Reason.CARD_CORDONED: _verb("is cordoned", "are cordoned"),
    Reason.NUMA_NOT_FIT: _verb(
        "was given up, as all must be of one NUMA node",
        "were given up, as all must be of one NUMA node",
    ),
    Reason.EXCLUSIVE_DEVICE_ALLOCATE_CONFLICT: _exclusive,
    Reason.CARD_MIG_TOPOLOGY_INFEASIBLE: _verb(
        "has no free place for a MIG instance with enough memory",
        "have no free place for a MIG instance with enough memory",
    ),
    Reason.RESOURCE_QUOTA_NOT_FIT: _verb(
        "would take more than the quota leaves", "would take more than the quota leaves"
    ),
    Reason.ALLOCATED_CARDS_INSUFFICIENT_REQUEST: _would_do,
}
