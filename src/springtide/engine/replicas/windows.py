"""Calming: a change must have been asked for through a whole window before it happens.

As Kubernetes does it: of what was asked for within a window, growing takes the least and shrinking
the most, so that a peak or a dip that passes changes nothing. Times are milliseconds of a clock
that never runs back. Records older than both windows are dropped.
"""

from typing import Final

import msgspec

RECORDS_MAX: Final = 4096
"""An evaluation each second for longer than an hour."""


class Asked(msgspec.Struct, frozen=True, gc=False):
    """A number that was asked for, and when."""

    at_ms: int
    replicas: int


class Windows(msgspec.Struct, frozen=True, kw_only=True):
    """How long each direction must be asked for, and what was asked for lately."""

    up_ms: int = 0
    down_ms: int = 0
    asked: tuple[Asked, ...] = ()


class Calmed(msgspec.Struct, frozen=True, kw_only=True):
    """The number that the windows let through, and the windows with the new record."""

    replicas: int
    windows: Windows


def primed(windows: Windows, *, now_ms: int, expect: int) -> Windows:
    """Return the windows as they begin: nothing moves before one has passed."""
    return msgspec.structs.replace(windows, asked=(Asked(now_ms, expect),))


def awake(windows: Windows, *, now_ms: int, expect: int, silence_ms: int = 0) -> Windows:
    """Return the windows, begun anew after a silence longer than them and than is usual."""
    last = windows.asked[-1].at_ms if windows.asked else None
    longest_ms = max(windows.up_ms, windows.down_ms, silence_ms)
    is_silent = last is None or now_ms - last > longest_ms
    return primed(windows, now_ms=now_ms, expect=expect) if is_silent else windows


def calm(windows: Windows, raw: int, *, now_ms: int, expect: int) -> Calmed:
    """Record what is asked for now; return what has been asked for long enough."""
    asked = windows.asked
    least = min([raw, *_within(asked, now_ms - windows.up_ms)])
    most = max([raw, *_within(asked, now_ms - windows.down_ms)])
    replicas = min(max(expect, least), most)
    return Calmed(replicas=replicas, windows=_recorded(windows, Asked(now_ms, raw)))


def _within(asked: tuple[Asked, ...], after_ms: int) -> list[int]:
    return [each.replicas for each in asked if each.at_ms > after_ms]


def _recorded(windows: Windows, new: Asked) -> Windows:
    after_ms = new.at_ms - max(windows.up_ms, windows.down_ms)
    kept = tuple(each for each in windows.asked if each.at_ms > after_ms)
    return msgspec.structs.replace(windows, asked=(*_thinned(kept), new))


def _thinned(kept: tuple[Asked, ...]) -> tuple[Asked, ...]:
    """Return records of which the oldest two are joined where there are too many.

    What is joined keeps the later time, so that it blocks a change rather longer; of two numbers
    the larger one stays, because losing state is worse than being slow.
    """
    if len(kept) < RECORDS_MAX:
        return kept
    first, second, *rest = kept
    joined = Asked(second.at_ms, max(first.replicas, second.replicas))
    return (joined, *rest)
