"""One measured figure, and how to measure the time of a call."""

import time
from collections.abc import Callable
from typing import NamedTuple


class Figure(NamedTuple):
    """What was measured: a rate or a ratio, with its unit and how it came about."""

    name: str
    value: float
    unit: str
    how: str


def cpu_s(call: Callable[[], object], *, repeat: int = 1) -> float:
    """Return the least CPU time, in seconds, that the call took in so many tries."""
    return min(_once(call, time.process_time) for _ in range(repeat))


def wall_s(call: Callable[[], object], *, repeat: int = 1) -> float:
    """Return the least wall-clock time, in seconds, that the call took in so many tries."""
    return min(_once(call, time.perf_counter) for _ in range(repeat))


def _once(call: Callable[[], object], now: Callable[[], float]) -> float:
    started = now()
    call()
    return now() - started
