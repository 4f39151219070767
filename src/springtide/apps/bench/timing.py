"""How long decisions take: the engine reads no clock, so it is read here, between one and the next.

Nothing else is done in between, and no garbage is looked for meanwhile.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import numpy as np

from springtide.apps.bench.policies import Start, Started
from springtide.base.clock import Rng
from springtide.edge.machine import MachineClock
from springtide.engine.trace import Run, Workload
from springtide.model.columns import Float64


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and what it took: to start it, to place all pods, and to place each."""

    run: Run
    start_s: float
    schedule_s: float
    cpu_s: float
    decisions_s: Float64


def timed(start: Start, workload: Workload, rng: Rng) -> Timed:
    """Return a replay of the workload, timed."""
    clock = MachineClock()
    with _undisturbed():
        before_s = clock.monotonic_s()
        started = start(workload, rng)
        cpu_s = clock.processor_s()
        marks_s = _marks(started, len(workload.arrivals), clock)
        cpu_s = clock.processor_s() - cpu_s
    return Timed(
        run=started.run(),
        start_s=float(marks_s[0]) - before_s,
        schedule_s=float(marks_s[-1] - marks_s[0]),
        cpu_s=cpu_s,
        decisions_s=np.diff(marks_s),
    )


def _marks(started: Started, count: int, clock: MachineClock) -> Float64:
    """Place all pods; return the time before the first, and after each."""
    place, now_s = started.place, clock.monotonic_s
    marks_s = [now_s()]
    for _ in range(count):
        place()
        marks_s.append(now_s())
    return np.array(marks_s)


@contextmanager
def _undisturbed() -> Iterator[None]:
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
