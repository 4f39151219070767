"""What the built-in observers of a process say: its processor, its loop, its memory, and its tasks.

Shares are thousandths of one core. They are worked out anew when an export interval has passed, give or take a
second, so that several who collect see the same; before that there is none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from springtide.base.clock import Clock
from springtide.edge.usage import Usage

EARLY_S: Final = 1.0
"""Whoever collects may be early by so much."""
FAKE_S: Final = 600.0
FAKE_S_MAX: Final = 3600.0
"""So long may be shown what is not so: whoever forgets it is not scaled by it for good."""
FAKE_PERMILLE_MAX: Final = 1_000_000
_PERMILLE: Final = 1000


class ProcessLoad:
    """Processor and memory of this process, from any thread."""

    def __init__(self, usage: Usage, clock: Clock, *, export_interval_s: float) -> None:
        self._usage = usage
        self._clock = clock
        self.export_interval_s = export_interval_s
        self._lock = Lock()
        self._at_s = clock.monotonic_s()
        self._used_s = (usage.processor_s(), usage.loop_s())
        self._resident_bytes = usage.resident_bytes()
        self._permille: tuple[int | None, int | None] = (None, None)
        self._fake: tuple[int, float] = (0, self._at_s)

    def cpu_permillage(self) -> int | None:
        """Return the share of the whole process; with several threads it may be more than 1000."""
        measured = self._fresh()[0][0]
        added, until_s = self._fake
        if self._clock.monotonic_s() >= until_s:
            return measured
        return max(0, (measured or 0) + added)

    def fake_cpu(self, permillage: int, *, for_s: float = FAKE_S) -> None:
        """Show so much more of the processor than is used, or less, for a while; 0 s ends it.

        For drills: what scales by the processor is seen to scale, without a real load.
        """
        if abs(permillage) > FAKE_PERMILLE_MAX:
            raise ValueError(
                f"permillage: {permillage} cannot be; write at most {FAKE_PERMILLE_MAX}, 1000 a core."
            )
        if not 0 <= for_s <= FAKE_S_MAX:
            raise ValueError(f"for_s: {for_s:g} cannot be; write seconds from 0 to {FAKE_S_MAX:g}.")
        self._fake = (permillage, self._clock.monotonic_s() + for_s)

    def main_thread_permillage(self) -> int | None:
        """Return the share of the loop's thread."""
        return self._fresh()[0][1]

    def memory_bytes(self) -> int | None:
        """Return the memory that is held."""
        return self._fresh()[1]

    def _fresh(self) -> tuple[tuple[int | None, int | None], int | None]:
        with self._lock:
            now_s = self._clock.monotonic_s()
            wall_s = now_s - self._at_s
            if wall_s > 0 and wall_s >= self.export_interval_s - EARLY_S:
                used_s = (self._usage.processor_s(), self._usage.loop_s())
                before = self._used_s
                self._permille = (
                    _share(before[0], used_s[0], wall_s),
                    _share(before[1], used_s[1], wall_s),
                )
                self._resident_bytes = self._usage.resident_bytes()
                self._at_s, self._used_s = now_s, used_s
            return self._permille, self._resident_bytes


class RecentTasks:
    """The most tasks that were under way at once, lately: for one export interval at least, for two at most.

    Nothing is said before the application counts for the first time: zero would be a claim.
    """

    def __init__(self, clock: Clock, *, period_s: float) -> None:
        self._clock = clock
        self.period_s = period_s
        self._lock = Lock()
        self._since_s = clock.monotonic_s()
        self._now = 0
        self._most: tuple[int, int] = (0, 0)
        self._is_counted = False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count one task for as long as the block."""
        self._add(1)
        try:
            yield
        finally:
            self._add(-1)

    def seen(self, count: int) -> None:
        """Say how many are under way, for an application that counts them itself."""
        with self._lock:
            self._turn()
            self._set(count)

    def recent_max(self) -> int | None:
        """Return the most of lately."""
        with self._lock:
            self._turn()
            return max(self._most) if self._is_counted else None

    def _add(self, more: int) -> None:
        with self._lock:
            self._turn()
            self._set(self._now + more)

    def _set(self, count: int) -> None:
        self._is_counted = True
        self._now = count
        before, lately = self._most
        self._most = (before, max(lately, count))

    def _turn(self) -> None:
        """Forget what is longer ago; what is still under way counts from the beginning."""
        passed_s = self._clock.monotonic_s() - self._since_s
        if passed_s < self.period_s:
            return
        before = self._most[1] if passed_s < 2 * self.period_s else self._now
        self._most = (before, self._now)
        self._since_s += passed_s


def _share(before_s: float | None, after_s: float | None, wall_s: float) -> int | None:
    if before_s is None or after_s is None:
        return None
    return max(0, round((after_s - before_s) * _PERMILLE / wall_s))
