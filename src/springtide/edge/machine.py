"""This machine's clock and cores, and sources of chance: what decisions may not fetch themselves."""

import os
import sys
import time
from typing import Final

_WORD: Final = (1 << 64) - 1
_NS: Final = 1_000_000_000
_STEP: Final = 0x9E3779B97F4A7C15


class MachineClock:
    """The clock of the operating system."""

    def monotonic_s(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()

    def processor_s(self) -> float:
        """Return how long this process has worked: what others do meanwhile does not count."""
        return time.process_time()


def cores() -> int:
    """Return on how many cores this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def allow_open_files(wanted: int) -> int:
    """Let this process have so many files and sockets open, as far as the system allows, and return how many."""
    if sys.platform == "win32":
        return wanted
    import resource  # noqa: PLC0415 - there is none on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


class MachineCalendar:
    """The time of day of the operating system."""

    def unix_s(self) -> float:
        """Return the seconds since 1970 in UTC."""
        return time.time_ns() / _NS


def utc_offset_s() -> int:
    """Return how far the local time is ahead of UTC."""
    return time.localtime().tm_gmtoff


def secret(size: int) -> bytes:
    """Return bytes that nobody can guess."""
    return os.urandom(size)


def noise() -> int:
    """Return a number to seed chance with, where no run is to be repeated."""
    return int.from_bytes(secret(8))


class SeededRng:
    """Draws the same choices for the same seed, on every version of Python (SplitMix64)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _WORD

    def choice_index(self, count: int) -> int:
        """Return one of the indices 0 to count - 1."""
        return self._next() * count >> 64

    def _next(self) -> int:
        self._state = (self._state + _STEP) & _WORD
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
        return mixed ^ (mixed >> 31)
