"""The largest amount that still fits, where whatever fits with more fits with less.

Amounts at which the answer is likely to turn (what devices and nodes have free) are tried first, so
that few questions are asked; the answer is exact whatever they are.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

Fits = Callable[[int], bool]


def largest(least: int, asked: int, fits: Fits, *, hints: Iterable[int] = ()) -> int | None:
    """Return the largest amount from `least` on and below `asked` that fits, None if none does."""
    if least >= asked or not fits(least):
        return None
    low, high = _bracketed(least, asked, fits, sorted(set(hints)))
    if low + 1 < high and not fits(low + 1):
        return low
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _bracketed(low: int, high: int, fits: Fits, hints: Sequence[int]) -> tuple[int, int]:
    """Return an amount that fits and one that does not, with no hint between them."""
    while True:
        first, after = bisect_right(hints, low), bisect_left(hints, high)
        if first >= after:
            return low, high
        middle = hints[(first + after) // 2]
        low, high = (middle, high) if fits(middle) else (low, middle)
