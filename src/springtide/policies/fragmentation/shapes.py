"""Which pods come: what the pods seen so far ask for, counted, the commonest kept as shapes.

Shapes are picked anew each time twice as many pods were seen again as there were before, so that a
list is never older than a third of what is known, and scores are seldom out of date. Counts are halved once they add
up to `SEEN_MAX`, which lets a cluster forget. Pods that ask for no device say nothing about devices.
"""

from typing import Final

import msgspec

from springtide.base.names import CPU
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask

FIRST_PODS: Final = 64
SEEN_MAX: Final = 65_536
KINDS_MAX: Final = 4_096
SHAPES_MAX: Final = 128
COVERED_PCT: Final = 95


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What a number of pods ask for: of devices, and CPU of a node.

    No shape asks for less than a thousandth of a core, so that room for it can be counted.
    """

    asks: tuple[Ask, ...]
    cpu_milli: int
    weight: int

    def ask_of(self, family: str) -> Ask | None:
        """Return what it asks of a family, None if nothing."""
        return next((ask for ask in self.asks if ask.family == family), None)


_Kind = tuple[tuple[Ask, ...], int]


class Shapes:
    """The shapes of the pods seen so far; `weight` is of all, `version` counts how often they were picked."""

    def __init__(self) -> None:
        self.version = 0
        self.picked: tuple[Shape, ...] = ()
        self.weight = 0
        self._counts: dict[_Kind, int] = {}
        self._kinds: dict[PodClass, _Kind] = {}
        self._seen = 0
        self._since = 0

    def see(self, pod_class: PodClass, count: int = 1) -> None:
        """Count pods of this class, which asked for a place or hold one."""
        if not pod_class.asks or count < 1:
            return
        kind = self._kinds.get(pod_class)
        if kind is None:
            kind = self._kinds[pod_class] = _kind_of(pod_class)
        self._counts[kind] = self._counts.get(kind, 0) + count
        self._seen += count
        self._since += count
        if self._since >= max(FIRST_PODS, 2 * (self._seen - self._since)):
            self._pick()
        if self._seen >= SEEN_MAX or len(self._counts) > KINDS_MAX:
            self._forget()

    def _pick(self) -> None:
        self._since = 0
        self.version += 1
        kept: list[Shape] = []
        covered = 0
        # Sorting is stable: of kinds seen equally often, the one seen first comes first.
        for kind, count in sorted(self._counts.items(), key=lambda item: -item[1]):
            if len(kept) == SHAPES_MAX or covered * 100 >= COVERED_PCT * self._seen:
                break
            covered += count
            asks, cpu_milli = kind
            kept.append(Shape(asks=asks, cpu_milli=cpu_milli, weight=count))
        self.picked = tuple(kept)
        self.weight = sum(shape.weight for shape in kept)

    def _forget(self) -> None:
        """Halve all counts; what was seen once is forgotten."""
        self._counts = {kind: count // 2 for kind, count in self._counts.items() if count > 1}
        self._seen = sum(self._counts.values())
        self._since = min(self._since, self._seen)
        self._kinds.clear()


def _kind_of(pod_class: PodClass) -> _Kind:
    return pod_class.asks, max(dict(pod_class.amounts).get(CPU, 0), 1)
