"""Windows of older fleets: the first demand opens one, and its extreme happens at the end.

Demand that goes back does not close a window, so one dip shrinks. It is here for fleets that must
move as they did; `windows` is what a new one takes.
"""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace


class Growing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One direction's window: when it ends, and the extreme that was asked for since it opened."""

    window_ms: int = 0
    ends_ms: int = 0
    pending: int = 0
    reached: int = 0


class Grown(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The number that the window lets through, and the window as it is now."""

    replicas: int
    window: Growing


def grow_up(window: Growing, asked: int, *, expect: int, now_ms: int, calm_ms: int) -> Grown:
    """Fold a number into the window that grows; `calm_ms` is when the running round is over."""
    return _fold(window, asked, expect, _Times(now_ms, calm_ms), max)


def grow_down(window: Growing, asked: int, *, expect: int, now_ms: int, calm_ms: int) -> Grown:
    """Fold a number into the window that shrinks."""
    return _fold(window, asked, expect, _Times(now_ms, calm_ms), min)


def cleared(window: Growing, *, now_ms: int, calm_ms: int) -> Growing:
    """Return the window shut, once it has ended and the round that it began is over."""
    if window.ends_ms and now_ms >= max(window.ends_ms, calm_ms):
        return Growing(window_ms=window.window_ms)
    return window


class _Times(msgspec.Struct, frozen=True, gc=False):
    now_ms: int
    calm_ms: int


def _fold(
    window: Growing, asked: int, expect: int, times: _Times, further: Callable[[int, int], int]
) -> Grown:
    if asked != expect and further(asked, expect) == asked:
        window = _widened(window, asked, times, further)
    if not window.ends_ms:
        window = replace(window, reached=asked)
    elif times.now_ms >= window.ends_ms:
        expect = further(expect, window.pending)
        window = replace(window, reached=window.pending)
    replicas = further(expect, window.reached) if window.reached > 0 else expect
    return Grown(replicas=replicas, window=window)


def _widened(
    window: Growing, asked: int, times: _Times, further: Callable[[int, int], int]
) -> Growing:
    if window.ends_ms:
        return replace(window, pending=further(window.pending, asked))
    begins_ms = max(times.now_ms, times.calm_ms)
    return replace(window, ends_ms=begins_ms + window.window_ms, pending=asked)
