"""A line through given points, from a utilization in percent to a score, in whole numbers."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from springtide.engine.scoring.scorer import SCORE_MAX
from springtide.model.columns import Float64, Int64
from springtide.model.plugin_arguments import ShapePoint

UTILIZATION_MAX: Final = 100
POINT_SCORE_MAX: Final = 10


class Line:
    """The points joined in order; level before the first and after the last."""

    def __init__(self, shape: Sequence[ShapePoint]) -> None:
        utilizations = np.arange(UTILIZATION_MAX + 1)
        self._scores: Int64 = np.array([_at(each, shape) for each in utilizations.tolist()])

    def at(self, used: Int64, there: Int64) -> Int64:
        """Return the score where so much of what is there is used; of nothing, all is used."""
        full = (used > there) | (there == 0)
        # In the order of the original, so that huge amounts overflow alike.
        part = used * UTILIZATION_MAX // np.maximum(there, 1)
        utilization = np.where(full, UTILIZATION_MAX, part)
        return self._scores.take(np.clip(utilization, 0, UTILIZATION_MAX))


def _at(utilization: int, shape: Sequence[ShapePoint]) -> int:
    scale = SCORE_MAX // POINT_SCORE_MAX
    for index, point in enumerate(shape):
        if utilization <= point.utilization:
            if index == 0:
                return point.score * scale
            before = shape[index - 1]
            rise = (point.score - before.score) * scale
            run = point.utilization - before.utilization
            # Towards zero, also where the line falls.
            part = abs(rise) * (utilization - before.utilization) // run
            return before.score * scale + (part if rise > 0 else -part)
    return shape[-1].score * scale


def rounded(values: Float64) -> Int64:
    """Return the nearest whole numbers, halves away from zero; none is negative."""
    whole = np.floor(values)
    return (whole + (values - whole >= 0.5)).astype(np.int64)  # noqa: PLR2004 - a half
