"""Who is on which node: the pods that others may be given the place of.

The lowest priority of each row is a column, so that the nodes with nobody to evict are found at once.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.engine.framework.rule import Rows
from springtide.model.columns import Bool
from springtide.model.pod import Pod

NOBODY: Final = np.iinfo(np.int64).max


class Residents:
    """The pods of each row, in the order in which they are given."""

    def __init__(self, pods: Iterable[tuple[int, Pod]] = ()) -> None:
        self._on: dict[int, list[Pod]] = {}
        for row, pod in pods:
            self._on.setdefault(row, []).append(pod)
        count = max(self._on, default=-1) + 1
        self._lowest: npt.NDArray[np.int64] = np.full(count, NOBODY, np.int64)
        for row, on in self._on.items():
            self._lowest[row] = min(pod.spec.priority for pod in on)

    def on(self, row: int) -> Sequence[Pod]:
        """Return the pods of a row."""
        return self._on.get(row, ())

    def below(self, priority: int, row: int) -> list[Pod]:
        """Return the pods of a row that have a lower priority."""
        return [pod for pod in self.on(row) if pod.spec.priority < priority]

    def has_below(self, priority: int, rows: Rows) -> Bool:
        """Return for each of the rows whether it has any pod of a lower priority."""
        found: Bool = np.zeros(len(rows), np.bool_)
        known = rows < len(self._lowest)
        found[known] = self._lowest[rows[known]] < priority
        return found
