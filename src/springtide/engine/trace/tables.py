"""One table of scores a shape: a placement changes one row, so only rows changed since are scored anew."""

from array import array
from collections.abc import Iterable
from math import inf

import numpy as np

from springtide.engine.trace.policy import Placing
from springtide.engine.trace.shape import Shape
from springtide.engine.trace.state import State
from springtide.model.columns import Float64

REFUSED = -inf


class _Table:
    """The scores of one shape as cells to write and as an array to search, on the same memory."""

    __slots__ = ("array", "cells", "seen")

    def __init__(self, rows: int) -> None:
        self.cells = array("d", [REFUSED]) * rows
        self.array: Float64 = np.frombuffer(self.cells, np.float64)
        self.seen = 0


class Tables:
    """The tables of all shapes that came so far."""

    def __init__(self, state: State, placing: Placing) -> None:
        self._state = state
        self._placing = placing
        self._tables: dict[Shape, _Table] = {}

    def scores(self, shape: Shape) -> Float64:
        """Return the score of each row as it is now, minus infinity where the pod does not fit."""
        table = self._tables.get(shape)
        if table is None:
            table = self._tables[shape] = _Table(len(self._state.models))
            rows: Iterable[int] = range(len(self._state.models))
        else:
            rows = set(self._state.log[table.seen :])
            for row in rows:
                table.cells[row] = REFUSED
        table.seen = len(self._state.log)
        self._placing.score(shape, self._state.feasible(shape, rows), table.cells)
        return table.array
