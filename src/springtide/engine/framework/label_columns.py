"""The labels of all distinct label sets, one column a key, so that a condition is judged per value.

Nodes have thousands of label sets where each carries a label of its own, yet a condition looks at
one key, and most keys have few values. A column is made when a key is first asked for, and follows
label sets that are added later.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.model.columns import Bool, Interner

LabelSets = Interner[tuple[tuple[str, str], ...]]


LEDGERS_MAX: Final = 8


class LabelColumns:
    """Columns over the label sets of one interner."""

    __slots__ = ("_columns", "_mappings", "labelsets")

    def __init__(self, labelsets: LabelSets) -> None:
        self.labelsets = labelsets
        self._mappings: list[dict[str, str]] = []
        self._columns: dict[str, _Column] = {}

    def where(self, key: str, holds: Callable[[str | None], bool]) -> Bool:
        """Return for every label set whether the condition holds for its value of the key."""
        column = self._column(key)
        return np.array([holds(value) for value in column.values.values], np.bool_)[column.codes]

    def codes(self, key: str) -> tuple[npt.NDArray[np.intp], int]:
        """Return for every label set a code of its value, 0 without one, and how many codes are."""
        column = self._column(key)
        return column.codes, len(column.values)

    def _column(self, key: str) -> "_Column":
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = _Column(key)
        column.extend(self._known())
        return column

    def _known(self) -> list[dict[str, str]]:
        fresh = self.labelsets.values[len(self._mappings) :]
        self._mappings.extend(dict(labels) for labels in fresh)
        return self._mappings


@lru_cache(maxsize=LEDGERS_MAX)
def columns_of(labelsets: LabelSets) -> LabelColumns:
    """Return the columns over these very label sets, which all rules share."""
    return LabelColumns(labelsets)


class _Column:
    __slots__ = ("codes", "key", "values")

    def __init__(self, key: str) -> None:
        self.key = key
        self.values: Interner[str | None] = Interner((None,))
        self.codes: npt.NDArray[np.intp] = np.zeros(0, np.intp)

    def extend(self, mappings: list[dict[str, str]]) -> None:
        done = len(self.codes)
        if done < len(mappings):
            fresh = [self.values.code(labels.get(self.key)) for labels in mappings[done:]]
            self.codes = np.concatenate([self.codes, np.array(fresh, np.intp)])
