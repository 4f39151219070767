"""Fragmentation gradient descent: the node and GPU on which fragmentation grows least or falls most.

A placement is worth 100 / (1 + e^-d), truncated, where d is by how many whole GPUs it lessens what of the
node typical pods cannot use (`engine.trace.fragmentation`). A part of a GPU is tried on every GPU that
has it free; other pods can be placed in one way.
"""

from bisect import insort
from collections.abc import Sequence
from math import exp
from typing import Final

from springtide.engine.trace.policy import Scores, Setting
from springtide.engine.trace.shape import Shape
from springtide.model.trace import GPU_MILLI
from springtide.policies.published.scoring import HighestScore, idle_gpus

MEMO_ENTRIES_MAX: Final = 2**17


class _Node:
    """A node as the measure sees it: its model, level of CPU, free parts of GPUs, and its amount."""

    __slots__ = ("amount", "gpus", "key")

    def __init__(self, key: tuple[str, int, tuple[int, ...]], amount: float) -> None:
        self.key = key
        self.gpus = key[2]
        self.amount = amount


class Fgd(HighestScore):
    """Scores are remembered by what a node is to the measure: many nodes are the same one."""

    def __init__(self, setting: Setting, *, entries_max: int = MEMO_ENTRIES_MAX) -> None:
        super().__init__(setting)
        self._entries_max = entries_max
        self._measure = setting.fragmentation
        self._nodes = [self._node(row) for row in range(len(self.state.models))]
        self._remembered: dict[tuple[object, ...], int] = {}

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Score by the best that the pod can do to fragmentation on each node."""
        cpu_free, nodes, level = self.state.cpu_free, self._nodes, self._measure.level
        remembered = self._remembered
        asked = shape.gpus, shape.gpu_milli
        for row in rows:
            node = nodes[row]
            level_after = level(cpu_free[row] - shape.cpu_milli)
            key = asked, level_after, node.key
            score = remembered.get(key)
            if score is None:
                if len(remembered) >= self._entries_max:
                    remembered.clear()
                score = remembered[key] = max(self._by_part(shape, node, level_after).values())
            scores[row] = score

    def devices(self, shape: Shape, row: int) -> tuple[int, ...]:
        """Return whole GPUs, or the one with the highest score, the lowest index among equals."""
        free = self.state.gpus_free[row]
        if not shape.is_fractional:
            return idle_gpus(shape, free)
        level_after = self._measure.level(self.state.cpu_free[row] - shape.cpu_milli)
        found = self._by_part(shape, self._nodes[row], level_after)
        best = max(found.values())
        return (next(index for index, milli in enumerate(free) if found.get(milli) == best),)

    def moved(self, row: int) -> None:
        """Note what the node is now."""
        self._nodes[row] = self._node(row)

    def _node(self, row: int) -> _Node:
        state, measure = self.state, self._measure
        gpus = tuple(sorted(state.gpus_free[row]))
        key = state.models[row], measure.level(state.cpu_free[row]), gpus
        return _Node(key, measure.amount(*key))

    def _by_part(self, shape: Shape, node: _Node, level_after: int) -> dict[int, int]:
        """Return the score of each way to place the pod, by what the GPU has free before."""
        if shape.is_fractional:
            fitting = {milli for milli in node.gpus if milli >= shape.gpu_milli}
            after = {milli: _less(node.gpus, milli, shape.gpu_milli) for milli in fitting}
        else:
            kept = len(node.gpus) - shape.gpus
            after = {GPU_MILLI: (*[0] * shape.gpus, *node.gpus[:kept])}
        model, measure = node.key[0], self._measure
        return {
            milli: _score(node.amount - measure.amount(model, level_after, gpus))
            for milli, gpus in after.items()
        }


def _less(gpus: tuple[int, ...], milli: int, taken_milli: int) -> tuple[int, ...]:
    """Return what is free, in ascending order, once a part of a GPU with so much free is taken."""
    left = list(gpus)
    left.remove(milli)
    insort(left, milli - taken_milli)
    return tuple(left)


def _score(gain_milli: float) -> int:
    return int(100 / (1 + exp(-gain_milli / GPU_MILLI)))
