"""Random: any node that takes the pod, and any of its GPUs that do."""

from collections.abc import Sequence

import numpy as np

from springtide.engine.trace.policy import Scores, Setting
from springtide.engine.trace.shape import Shape
from springtide.model.columns import Float64
from springtide.policies.published.scoring import idle_gpus


class Random:
    """Chance is that of the setting; whole GPUs are the lowest idle ones, as with other policies."""

    def __init__(self, setting: Setting) -> None:
        self._state = setting.state
        self._rng = setting.rng

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Score every node alike."""
        for row in rows:
            scores[row] = 0

    def chosen(self, scores: Float64) -> int:
        """Return one of the rows that take the pod, the first where none does."""
        rows = np.flatnonzero(scores == 0)
        return int(rows[self._rng.choice_index(len(rows))]) if len(rows) else 0

    def devices(self, shape: Shape, row: int) -> tuple[int, ...]:
        """Return whole GPUs, or one of those that have the part free."""
        free = self._state.gpus_free[row]
        if not shape.is_fractional:
            return idle_gpus(shape, free) if shape.gpus else ()
        fitting = [index for index, milli in enumerate(free) if milli >= shape.gpu_milli]
        return (fitting[self._rng.choice_index(len(fitting))],)

    def moved(self, row: int) -> None:
        """Pay no heed."""
