"""The functions on lists and maps that the library lacks."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from springtide.base.quantity import INT64_MAX, INT64_MIN

# Elements come from an expression: numbers, texts, bytes, booleans, durations or times.
Elements = Sequence[Any]

_NOT_FOUND: Final = -1


def is_sorted(elements: Elements) -> bool:
    """Return whether no element is above the next one."""
    _check_comparable(elements)
    return all(first <= second for first, second in pairwise(elements))


def total(elements: Elements) -> int | float:
    """Return the sum of numbers."""
    _check_comparable(elements)
    found: int | float = sum(elements)
    if isinstance(found, int) and not INT64_MIN <= found <= INT64_MAX:
        raise ValueError("integer overflow")
    return found


def smallest(elements: Elements) -> Any:
    """Return the least element."""
    return min(_some(elements, "min"))


def largest(elements: Elements) -> Any:
    """Return the greatest element."""
    return max(_some(elements, "max"))


def index_of(elements: Elements, element: object) -> int:
    """Return the first position of an element, or -1."""
    positions = (i for i, other in enumerate(elements) if _is_same(other, element))
    return next(positions, _NOT_FOUND)


def last_index_of(elements: Elements, element: object) -> int:
    """Return the last position of an element, or -1."""
    found = index_of(elements[::-1], element)
    return found if found == _NOT_FOUND else len(elements) - 1 - found


def limited(elements: Elements, count: int) -> Elements:
    """Return the first so many elements; all if the count is negative."""
    return elements if count < 0 else elements[:count]


def with_entry(entries: Mapping[object, object], key: object, value: object) -> object:
    """Return a map with one more entry."""
    return with_entries(entries, {key: value})


def with_entries(entries: Mapping[object, object], more: Mapping[object, object]) -> object:
    """Return a map with more entries, none of which it may have already."""
    for key in more:
        if key in entries:
            raise ValueError(f"insert failed: key {key} already exists")
    return {**entries, **more}


def _some(elements: Elements, function: str) -> Elements:
    if not elements:
        raise ValueError(f"{function} called on empty list")
    _check_comparable(elements)
    return elements


def _check_comparable(elements: Elements) -> None:
    if len({_kind(element) for element in elements}) > 1:
        raise TypeError("no such overload: the elements of the list are of different types")


def _is_same(left: object, right: object) -> bool:
    return _kind(left) == _kind(right) and left == right


def _kind(value: object) -> type:
    # Booleans are no numbers in CEL.
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)
