"""Fragmentation: how much of a node's idle GPUs the typical pods cannot use.

Each typical pod calls idle GPU milli of a node a fragment or not, by what ends it there (Weng and
others, 2023): `q1` both GPUs and CPU are short, `q2` GPUs are, or parts of GPUs too small for it, `q3`
it can use them, `q4` CPU is short, `xl` and `xr` it asks for no GPU and its CPU fits or not, `no_access`
it does not take the model. The node's amount is what all but `q3` come to, weighed by shares.

Sums run label by label, each over the typical pods in their order: results are compared digit by
digit, and another order of adding gives other last digits, which decide some ties.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import msgspec

from springtide.engine.trace.typical import TypicalPod

LABELS: Final = ("q1", "q2", "q3", "q4", "xl", "xr", "no_access")
MEMO_ENTRIES_MAX: Final = 2**18


class _Ask(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A typical pod on a node: which of the distinct parts it asks, of how many GPUs, its share."""

    part: int
    gpus: int
    share: float


class _Sorted(msgspec.Struct, frozen=True, kw_only=True):
    """Typical pods by what does not depend on a node's GPUs; shares where nothing else matters."""

    fitting: tuple[_Ask, ...]
    short: tuple[_Ask, ...]
    cpu_fitting: tuple[float, ...]
    cpu_short: tuple[float, ...]
    no_access: tuple[float, ...]


class Fragmentation:
    """The measure for one list of typical pods.

    A node counts by its model, by its CPU only as far as typical pods tell it apart, its `level`, and
    by what is free of its GPUs, in ascending order.
    """

    def __init__(
        self, typical: Sequence[TypicalPod], *, entries_max: int = MEMO_ENTRIES_MAX
    ) -> None:
        self._entries_max = entries_max
        self._typical = tuple(typical)
        self._parts = sorted({pod.gpu_milli for pod in typical if pod.gpus})
        self._steps = sorted({pod.cpu_milli for pod in typical})
        self.levels = len(self._steps) + 1
        self._sorted: dict[tuple[str, int], _Sorted] = {}
        self._amounts: dict[tuple[str, int, tuple[int, ...]], float] = {}

    def level(self, cpu_milli: int) -> int:
        """Return how many of the CPU asks that typical pods make fit into this much."""
        return bisect_right(self._steps, cpu_milli)

    def amount(self, model: str, level: int, gpus: tuple[int, ...]) -> float:
        """Return how much of the node is a fragment, in GPU milli."""
        key = model, level, gpus
        amount = self._amounts.get(key)
        if amount is None:
            if len(self._amounts) >= self._entries_max:
                self._amounts.clear()
            q1, q2, _, q4, xl, xr, no_access = self.labels(model, level, gpus)
            amount = self._amounts[key] = q1 + q2 + q4 + xl + xr + no_access
        return amount

    def labels(self, model: str, level: int, gpus: tuple[int, ...]) -> tuple[float, ...]:
        """Return what the node's idle GPUs are, in the order of `LABELS`."""
        pods = self._sorted.get((model, level)) or self._sort(model, level)
        total, counts, below = sum(gpus), *self._at_parts(gpus)
        q1 = q2 = q3 = q4 = xl = xr = no_access = 0.0
        for ask in pods.fitting:
            lost = below[ask.part] if counts[ask.part] >= ask.gpus else total
            q2 += ask.share * lost
            q3 += ask.share * (total - lost)
        for ask in pods.short:
            if counts[ask.part] >= ask.gpus:
                q4 += ask.share * total
            else:
                q1 += ask.share * total
        for share in pods.cpu_fitting:
            xl += share * total
        for share in pods.cpu_short:
            xr += share * total
        for share in pods.no_access:
            no_access += share * total
        return q1, q2, q3, q4, xl, xr, no_access

    def _at_parts(self, gpus: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """Return for each part how many GPUs have it free, and what the others have together."""
        sums = [0, *accumulate(gpus)]
        found = [bisect_right(gpus, part - 1) for part in self._parts]
        return [len(gpus) - index for index in found], [sums[index] for index in found]

    def _sort(self, model: str, level: int) -> _Sorted:
        """Sort the typical pods for nodes of this model and level of CPU, each in their order."""
        cpu_free = self._steps[level - 1] if level else -1
        of_cpu = [pod for pod in self._typical if not pod.gpus]
        of_gpus = [pod for pod in self._typical if pod.gpus]
        allowed = [pod for pod in of_gpus if not pod.models or model in pod.models]
        found = self._sorted[model, level] = _Sorted(
            fitting=tuple(self._ask(pod) for pod in allowed if pod.cpu_milli <= cpu_free),
            short=tuple(self._ask(pod) for pod in allowed if pod.cpu_milli > cpu_free),
            cpu_fitting=tuple(pod.share for pod in of_cpu if pod.cpu_milli <= cpu_free),
            cpu_short=tuple(pod.share for pod in of_cpu if pod.cpu_milli > cpu_free),
            no_access=tuple(pod.share for pod in of_gpus if pod not in allowed),
        )
        return found

    def _ask(self, pod: TypicalPod) -> _Ask:
        return _Ask(part=self._parts.index(pod.gpu_milli), gpus=pod.gpus, share=pod.share)
