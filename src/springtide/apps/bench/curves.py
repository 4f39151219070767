"""Curves over arrival, in whole percent: what is in use and what is fragment, by how much was asked for."""

from typing import Final

import msgspec
import numpy as np

from springtide.engine.trace import Run
from springtide.engine.trace.metrics import allocation_pct, frag_pct
from springtide.model.columns import Float64

REPORTED: Final = (90, 95, 100, 105, 110, 120, 130)
"""The arrivals at which the report has the allocation."""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """Values at 0, 1, 2, ... % of arrival, in % of the GPU capacity; NaN where no pod came near."""

    alloc_pct: Float64
    frag_pct: Float64

    def alloc_at(self, arrival_pct: int) -> float | None:
        """Return the allocation at an arrival, if some pod came near it."""
        if arrival_pct >= len(self.alloc_pct):
            return None
        found = float(self.alloc_pct[arrival_pct])
        return None if np.isnan(found) else found


def curve(run: Run) -> Curve:
    """Return the curves of a run, up to the last arrival."""
    last_milli = int(run.arrived_milli.max(initial=0))
    last_pct = round(100 * last_milli / run.capacity.gpu_milli)
    return Curve(
        alloc_pct=allocation_pct(run, last_pct=last_pct), frag_pct=frag_pct(run, last_pct=last_pct)
    )
