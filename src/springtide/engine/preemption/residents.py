"""Who is on which node: the pods that others may be given the place of.

The lowest priority of each row is a column, so that the nodes with nobody to evict are found at once.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.engine.framework.rule import Rows
from springtide.model.columns import Bool, grown
from springtide.model.pod import Pod

NOBODY: Final = np.iinfo(np.int64).max


class Residents:
    """The pods of each row, in the order in which they came."""

    def __init__(self, pods: Iterable[tuple[int, Pod]] = ()) -> None:
        self._on: dict[int, list[Pod]] = {}
        self._lowest: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        for row, pod in pods:
            self._on.setdefault(row, []).append(pod)
        for row in self._on:
            self._note(row)

    def add(self, row: int, pod: Pod) -> None:
        """Take in a pod that came to a row."""
        self._on.setdefault(row, []).append(pod)
        self._note(row)

    def remove(self, row: int, uid: str) -> None:
        """Forget a pod that left its row."""
        self._on[row] = [pod for pod in self._on[row] if pod.uid != uid]
        self._note(row)

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

    def _note(self, row: int) -> None:
        count = len(self._lowest)
        if row >= count:
            self._lowest = grown(self._lowest, max(row + 1, 2 * count))
            self._lowest[count:] = NOBODY
        self._lowest[row] = min((pod.spec.priority for pod in self._on[row]), default=NOBODY)
