"""The append-only log of changed rows: the only way a cache learns that it is stale.

Every mutation of a ledger appends the row it touched. A cache keeps the position up to which it
has read, and re-evaluates the rows logged since.
"""

import numpy as np
import numpy.typing as npt

from springtide.model.columns import distinct


class ChangeLog:
    """Row indices in the order in which they changed."""

    __slots__ = ("_rows", "position")

    def __init__(self) -> None:
        self._rows: npt.NDArray[np.int32] = np.zeros(1024, np.int32)
        self.position = 0

    def append(self, row: int) -> None:
        """Log one changed row."""
        if self.position == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[self.position] = row
        self.position += 1

    def extend(self, rows: npt.NDArray[np.int32]) -> None:
        """Log many changed rows at once."""
        needed = self.position + len(rows)
        if needed > len(self._rows):
            grown = np.zeros(max(needed, 2 * len(self._rows)), np.int32)
            grown[: self.position] = self._rows[: self.position]
            self._rows = grown
        self._rows[self.position : needed] = rows
        self.position = needed

    def since(self, position: int) -> npt.NDArray[np.int32]:
        """Return the rows logged since this position, each once, ascending."""
        return distinct(self._rows[position : self.position])
