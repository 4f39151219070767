"""Columns: the state of all nodes and devices as arrays, one row a node, one cell a device.

Arrays are allocated with spare rows and doubled; only the first `count` rows of a ledger mean
anything. They are owned by one ledger and are read, never written, by everyone else.
"""

from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from springtide.base.names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from springtide.model.resources import AmountList

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

KeyT = TypeVar("KeyT", bound=Hashable)
AMOUNT_LISTS_MAX = 65_536


class Interner(Generic[KeyT]):
    """Distinct values as small integers, in order of first sight."""

    __slots__ = ("_codes", "values")

    def __init__(self, values: Sequence[KeyT] = ()) -> None:
        self._codes: dict[KeyT, int] = {}
        self.values: list[KeyT] = []
        for value in values:
            self.code(value)

    def __len__(self) -> int:
        """Return how many distinct values were seen."""
        return len(self.values)

    def code(self, value: KeyT) -> int:
        """Return the value's code, giving it one at first sight."""
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self.values)
            self.values.append(value)
        return code

    def known(self, value: KeyT) -> int | None:
        """Return the value's code, or None if it was never seen."""
        return self._codes.get(value)


class ResourceColumns:
    """Node resources: `allocatable` and `used`, int64 [resources, rows], in scheduler units.

    The first four resources are pods, cpu, memory and ephemeral-storage, always present.
    """

    def __init__(self, rows: int) -> None:
        self.names: Interner[str] = Interner((PODS, CPU, MEMORY, EPHEMERAL_STORAGE))
        self.allocatable: Int64 = np.zeros((8, rows), np.int64)
        self.used: Int64 = np.zeros((8, rows), np.int64)
        self._lists: dict[AmountList, _Listed] = {}

    def index(self, name: str) -> int:
        """Return the resource's row in the matrices, adding one at first sight."""
        index = self.names.code(name)
        if index == len(self.allocatable):
            self.allocatable = np.concatenate([self.allocatable, np.zeros_like(self.allocatable)])
            self.used = np.concatenate([self.used, np.zeros_like(self.used)])
        return index

    def known(self, name: str) -> int | None:
        """Return the resource's row in the matrices, or None if no node or pod has named it."""
        return self.names.known(name)

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        self.allocatable = grown(self.allocatable, rows, axis=1)
        self.used = grown(self.used, rows, axis=1)

    def set_row(self, row: int, allocatable: AmountList) -> None:
        """Give a row to a node: its allocatable amounts, nothing used."""
        # The indices first: naming a new resource replaces the matrices.
        indices, quantities, _ = self._lists.get(allocatable) or self._listed(allocatable)
        self.allocatable[:, row] = 0
        self.used[:, row] = 0
        self.allocatable[indices, row] = quantities

    def take(self, row: int, amounts: AmountList, *, sign: int = 1) -> None:
        """Count the amounts as used (sign 1) or free them again (sign -1)."""
        # Of so few cells each by itself takes less time than an array of them.
        pairs = (self._lists.get(amounts) or self._listed(amounts))[2]
        used = self.used
        for index, quantity in pairs:
            used[index, row] += sign * quantity

    def free(self, row: int) -> dict[str, int]:
        """Return what is allocatable and not in use on a row; negative where it is overcommitted."""
        left = self.allocatable[:, row] - self.used[:, row]
        return dict(zip(self.names.values, left.tolist(), strict=False))

    def take_all(self, rows: Sequence[int], amounts: AmountList) -> None:
        """Count the amounts as used on each of the rows, as often as it is given."""
        indices, quantities, _ = self._lists.get(amounts) or self._listed(amounts)
        counts = np.bincount(rows, minlength=self.used.shape[1])
        self.used[indices] += quantities[:, None] * counts

    def _listed(self, amounts: AmountList) -> "_Listed":
        """Return a list of amounts by index, as arrays and as pairs, remembered: pods repeat them."""
        if len(self._lists) >= AMOUNT_LISTS_MAX:
            self._lists.clear()
        pairs = tuple([(self.index(name), quantity) for name, quantity in amounts])
        indices = np.array([index for index, _ in pairs], np.int64)
        quantities = np.array([quantity for _, quantity in pairs], np.int64)
        listed = self._lists[amounts] = indices, quantities, pairs
        return listed


_Listed = tuple[Int64, Int64, tuple[tuple[int, int], ...]]


IntegerT = TypeVar("IntegerT", bound=np.integer)
ArrayT = TypeVar("ArrayT", bound=npt.NDArray[np.generic])


def grown(array: ArrayT, size: int, *, axis: int = 0) -> ArrayT:
    """Return the array with this length along an axis, new cells zero; never shorter."""
    if array.shape[axis] >= size:
        return array
    shape = list(array.shape)
    shape[axis] = size
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(0, length) for length in array.shape)] = array
    return larger  # type: ignore[return-value]  # same dtype and rank as the argument


def distinct(values: npt.NDArray[IntegerT]) -> npt.NDArray[IntegerT]:
    """Return the distinct values, ascending (`np.unique` would load masked arrays: 0.15 s)."""
    if len(values) < 2:  # noqa: PLR2004 - nothing to sort
        return values.copy()
    ordered = np.sort(values)
    is_first = np.empty(len(ordered), np.bool_)
    is_first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]
