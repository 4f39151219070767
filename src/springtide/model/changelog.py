"""The append-only log of changed rows: the only way a cache learns that it is stale.

Every mutation of a ledger appends the row it touched. A cache keeps the position up to which it
has read, and re-evaluates the rows logged since. Where a ledger lives long, the oldest entries are
forgotten; a cache that has not read them has to look at every row.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.model.columns import distinct

SPARE: Final = 1024
"""How many entries there is room for at first."""


class ChangeLog:
    """Row indices in the order in which they changed; entries before `start` are forgotten."""

    __slots__ = ("_rows", "position", "start")

    def __init__(self) -> None:
        self._rows: npt.NDArray[np.int32] = np.zeros(SPARE, np.int32)
        self.position = 0
        self.start = 0

    def append(self, row: int) -> None:
        """Log one changed row."""
        index = self.position - self.start
        if index == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[index] = row
        self.position += 1

    def extend(self, rows: npt.NDArray[np.int32]) -> None:
        """Log many changed rows at once."""
        index = self.position - self.start
        needed = index + len(rows)
        if needed > len(self._rows):
            grown = np.zeros(max(needed, 2 * len(self._rows)), np.int32)
            grown[:index] = self._rows[:index]
            self._rows = grown
        self._rows[index:needed] = rows
        self.position += len(rows)

    def since(self, position: int) -> npt.NDArray[np.int32]:
        """Return the rows logged since this position, each once, ascending."""
        assert position >= self.start, "these entries are forgotten"
        return distinct(self._rows[position - self.start : self.position - self.start])

    def forget(self, before: int) -> None:
        """Forget the entries before this position."""
        if before > self.start:
            kept = self._rows[before - self.start : self.position - self.start]
            self._rows = np.concatenate([kept, np.zeros(SPARE, np.int32)])
            self.start = before
