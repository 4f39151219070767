"""GpuPacking: GPUs that are in use before idle ones, and nodes that are in use before idle ones."""

from collections.abc import Sequence
from typing import Final

from springtide.engine.trace.policy import Scores
from springtide.engine.trace.shape import Shape
from springtide.model.trace import GPU_MILLI
from springtide.policies.published.scoring import HighestScore, gpus_asked

IN_USE_LEAST: Final = 50
IDLE_GPU_LEAST: Final = 33
"""A node in use whose GPUs suffice scores 50 to 100, one that must give an idle GPU 33 to 50."""


class GpuPacking(HighestScore):
    """Pods without a GPU score nodes alike."""

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Score by what the GPUs that the pod would take have to do already."""
        for row in rows:
            scores[row] = self._scored(shape, row) if shape.gpus else 0

    def _scored(self, shape: Shape, row: int) -> int:
        gpus = len(self.state.gpus_free[row])
        if self.state.idle[row] == gpus:
            return max(IDLE_GPU_LEAST - gpus, gpus)
        taken = gpus_asked(shape, self.state, row)
        idle = taken.count(GPU_MILLI)
        if idle:
            return max(IN_USE_LEAST - idle, IDLE_GPU_LEAST)
        free = sum(100 * milli // GPU_MILLI for milli in taken)
        return max(100 - free // 10, IN_USE_LEAST)
