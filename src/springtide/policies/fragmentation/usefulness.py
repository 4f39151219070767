"""What each state of a device is good for: which shapes it serves, and what is free of it then.

Amounts of a device are thousandths of all it has, the mean of memory and of cores, the latter only if some
shape asks for cores of such devices. Slots limit but are not counted: a slot is worth nothing alone.
All are whole numbers, so that sums do not depend on the order of what is added up.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.engine.placement.family import Ask, Portion, Rows
from springtide.model.columns import Bool, Float64, Int32, Int64, distinct, grown
from springtide.policies.fragmentation.shapes import Shape
from springtide.policies.fragmentation.states import ASKS_MAX, State, States

MILLI: Final = 1000
LAST: Final = 2**62
"""The rank of a device that cannot serve."""

_UNKNOWN: Final = -(2**62)

Float32 = npt.NDArray[np.float32]


class Usefulness:
    """The states of one family's devices as these shapes see them.

    `amounts` [states, 2 * shapes + 1] says per shape whether a device serves one more pod, then per shape
    what it has free if it does, else 0, and last what it has free. `weight` is that of all shapes.
    """

    def __init__(self, states: States, shapes: Sequence[Shape]) -> None:
        self.states = states
        self.width = len(shapes)
        self.weights: Float64 = np.array([shape.weight for shape in shapes], np.float64)
        self.weight = sum(shape.weight for shape in shapes)
        self._asks = [shape.ask_of(states.family.name) for shape in shapes]
        self._has_cores: list[bool] = []
        self._counts: Float32 = np.zeros((0, self.width), np.float32)
        self._needs: Float32 = np.zeros((0, self.width), np.float32)
        self._bounds: tuple[_Bound, _Bound] = (_Bound(self._counts), _Bound(self._needs))
        self._mixes = 0
        self._can: Bool = np.zeros((0, self.width), np.bool_)
        self._memory: Int64 = np.zeros((0, self.width), np.int64)
        self._cores: Int64 = np.zeros((0, self.width), np.int64)
        self._described = 0
        self._ranks: dict[Ask, Int64] = {}
        self.amounts: Float32 = np.zeros((64, 2 * self.width + 1), np.float32)
        self._spoilt: Int64 = np.zeros(64, np.int64)
        self.learn()

    def learn(self) -> None:
        """Describe the states that have come up since the last time."""
        states = self.states
        if self._described == len(states):
            return
        for kind in range(len(self._has_cores), len(states.kinds)):
            self._add_kind(kind)
        news = states.known.values[self._described :]
        self._described = len(states)
        if len(states) > len(self._spoilt):
            self.amounts = grown(self.amounts, 2 * len(states))
            self._spoilt = grown(self._spoilt, 2 * len(states))
        self._describe(slice(len(states) - len(news), len(states)), news)

    def ranks(self, codes: Int32, ask: Ask) -> Int64:
        """Return how much each device is spoilt by serving; of equal ones the fullest is the lowest."""
        known = self._ranks.get(ask)
        if known is None or len(known) < len(self.states):
            known = self._longer(ask, known)
        found = known.take(codes)
        if found.min(initial=LAST) == _UNKNOWN:
            missing = distinct(codes[found == _UNKNOWN].ravel())
            known[missing] = self._ranked(missing, self.states.after(missing, ask))
            found = known.take(codes)
        return found

    def _longer(self, ask: Ask, known: Int64 | None) -> Int64:
        if len(self._ranks) >= ASKS_MAX:
            self._ranks.clear()
        longer = np.full(2 * len(self.states), _UNKNOWN, np.int64)
        if known is not None:
            longer[: len(known)] = known
        self._ranks[ask] = longer
        return longer

    def _ranked(self, codes: Int32, after: Int32) -> Int64:
        self.learn()
        ranks: Int64 = self._spoilt.take(after) - self._spoilt.take(codes)
        ranks *= MILLI + 1
        ranks += self.amounts[codes, -1].astype(np.int64)
        ranks[after == codes] = LAST
        return ranks

    def _add_kind(self, kind: int) -> None:
        device = self.states.kinds.values[kind]
        portions = [self._portion(ask, kind) for ask in self._asks]
        asked = [Portion(count=1) if each is None else each for each in portions]
        self._has_cores.append(any(each.cores for each in asked))
        needs = [
            0 if each is None else each.count * self._milli(kind, each.memory_mib, each.cores)
            for each in portions
        ]
        can = [each is not None and device.is_healthy for each in portions]
        counts = [0 if each is None else each.count for each in portions]
        self._counts = np.vstack([self._counts, np.array([counts], np.float32)])
        self._needs = np.vstack([self._needs, np.array([needs], np.float32)])
        self._can = np.vstack([self._can, np.array([can], np.bool_)])
        self._memory = np.vstack([self._memory, [[each.memory_mib for each in asked]]])
        self._cores = np.vstack([self._cores, [[each.cores for each in asked]]])

    def bounds(self, mix: Int32, rows: Rows) -> tuple[Float32, Float32]:
        """Return the devices that pods take, and what these amount to, on nodes of these mixes."""
        if self._mixes < len(self.states.mixes):
            self._mixes = len(self.states.mixes)
            kinds = [list(mix) for mix in self.states.mixes.values]
            counts = np.array([self._counts[each].max(axis=0, initial=0) for each in kinds])
            needs = np.array([self._needs[each].max(axis=0, initial=0) for each in kinds])
            self._bounds = _Bound(counts), _Bound(needs)
        counts_bound, needs_bound = self._bounds
        return counts_bound.of(mix, rows), needs_bound.of(mix, rows)

    def _portion(self, ask: object, kind: int) -> Portion | None:
        states = self.states
        return None if ask is None else states.family.portion(ask, states.kinds.values[kind])

    def _describe(self, where: slice, news: Sequence[State]) -> None:
        devices = [self.states.kinds.values[kind] for kind, *_ in news]
        kinds = np.array([kind for kind, *_ in news], np.intp)
        left = [
            (device.memory_mib - memory_mib, device.cores - cores, device.slots - slots)
            for device, (_, slots, memory_mib, cores) in zip(devices, news, strict=True)
        ]
        free = np.array(
            [
                self._milli(kind, memory_mib, cores) if device.is_healthy else 0
                for device, kind, (memory_mib, cores, _) in zip(devices, kinds, left, strict=True)
            ],
            np.int64,
        )
        memory, cores, slots = np.array(left, np.int64).T[:, :, None]
        serves = self._can[kinds] & (self._memory[kinds] <= memory)
        serves &= (self._cores[kinds] <= cores) & (slots > 0)
        amounts = self.amounts[where]
        amounts[:, : self.width] = serves
        amounts[:, self.width : -1] = serves * free[:, None]
        amounts[:, -1] = free
        self._spoilt[where] = free * (self.weight - (serves @ self.weights).astype(np.int64))

    def _milli(self, kind: int, memory_mib: int, cores: int) -> int:
        """Return so much of a device: the mean of memory and cores, if cores are asked for at all."""
        device = self.states.kinds.values[kind]
        memory = MILLI * max(memory_mib, 0) // max(device.memory_mib, 1)
        if not self._has_cores[kind]:
            return memory
        return (memory + MILLI * max(cores, 0) // max(device.cores, 1)) // 2


class _Bound:
    """A number per mix and shape, 0 where no device of the mix can serve the shape at all.

    There it plays no part. So where all others agree, which they mostly do, one row stands for all.
    """

    def __init__(self, by_mix: Float32) -> None:
        self._by_mix = by_mix
        common: Float32 = by_mix.max(axis=0, initial=0)
        self._common = common if ((by_mix == 0) | (by_mix == common)).all() else None

    def of(self, mix: Int32, rows: Rows) -> Float32:
        """Return the numbers of these rows, whose mixes are given of all, or one row for all."""
        return self._by_mix.take(mix.take(rows), axis=0) if self._common is None else self._common
