"""Which nodes have enough devices for an ask, without the reasons: the quick half of a verdict.

A device serves a request as long as no more than so much of its memory, cores and slots is in use,
and those ceilings depend on the ask and on the device only. So they are worked out once for each
kind of node, and a look at n nodes is one comparison. `DeviceFamily.evaluate` says the same, with
the reason of every device; it is asked where somebody reads them.
"""

from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np

from springtide.engine.framework.rule import Rows
from springtide.model.columns import Bool, Float32, Int32
from springtide.model.device import Inventory
from springtide.model.device_columns import DeviceColumns

_NEVER: Final = -1
"""No use is as low as that."""


class Ceiling(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How much of a device may be in use for it to serve a request.

    It counts as `weight` devices: a card that is cut into instances serves a whole request.
    """

    memory_mib: int
    cores: int
    slots: int
    weight: int = 1


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """What one request needs of a node: so many devices below their ceilings, None where never."""

    count: int
    ceilings: tuple[Ceiling | None, ...]


NeededOf = Callable[[Inventory], tuple[Needed, ...]]
"""Return what each request of an ask needs of a node of this kind, in the same order every time."""


class Screen:
    """The ceilings of one ask on all kinds of nodes that were met so far."""

    def __init__(self, needed_of: NeededOf) -> None:
        self._needed_of = needed_of
        self._kinds = 0
        self._requests: list[_Request] = []

    def fits(self, columns: DeviceColumns, rows: Rows, *, kinds: Int32) -> Bool:
        """Return which of these rows, all of known kinds, have enough devices for every request."""
        if self._kinds < len(columns.kinds):
            self._learn(columns)
        used = columns.used.take(rows, axis=1)
        first, *others = self._requests
        found = first.fits(used, kinds)
        for request in others:
            found &= request.fits(used, kinds)
        return found

    def _learn(self, columns: DeviceColumns) -> None:
        needed = [self._needed_of(inventory) for inventory in columns.kinds]
        self._kinds = len(needed)
        self._requests = [_Request(each, columns.width) for each in zip(*needed, strict=True)]


class _Request:
    """One request's ceilings by kind [4, kinds, width], in the order of the planes of `used`."""

    def __init__(self, needed: tuple[Needed, ...], width: int) -> None:
        self._count = needed[0].count
        self._ceilings: Int32 = np.full((4, len(needed), width), _NEVER, np.int32)
        weights: Float32 = np.ones((len(needed), width), np.float32)
        for kind, each in enumerate(needed):
            for position, ceiling in enumerate(each.ceilings):
                if ceiling is not None:
                    limits = (ceiling.memory_mib, ceiling.cores, ceiling.slots, 0)
                    self._ceilings[:, kind, position] = limits
                    weights[kind, position] = ceiling.weight
        self._weights = None if (weights == 1).all() else weights
        self._ones: Float32 = np.ones(width, np.float32)

    def fits(self, used: Int32, kinds: Int32) -> Bool:
        """Return which nodes have enough devices below their ceilings."""
        below = np.logical_and.reduce(used <= self._ceilings.take(kinds, axis=1), axis=0)
        # A product is several times faster than a sum.
        counted = below.astype(np.float32)
        if self._weights is not None:
            counted *= self._weights.take(kinds, axis=0)
        found: Bool = counted.dot(self._ones) >= self._count
        return found
