"""How much a plan may ask of scheduler extenders: time and calls in all, and patience with each."""

import math
from typing import Final

import msgspec

from springtide.base.clock import Clock

FAILURES_MAX: Final = 3
REST_S: Final = 30.0


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """That extenders are called, and how far that may go; 0 does not bound.

    With `is_strict_tls`, a server whose certificate would not be checked is not called.
    """

    budget_s: float = 60.0
    calls_max: int = 10_000
    is_strict_tls: bool = False


class Budget:
    """What is left of the time and number of calls that all extenders share."""

    def __init__(self, allowed: Calls) -> None:
        self._allowed = allowed
        self._spent_s = 0.0
        self._calls = 0

    @property
    def seconds_left(self) -> float:
        """Return how long calls may still take."""
        if not self._allowed.budget_s:
            return math.inf
        return max(0.0, self._allowed.budget_s - self._spent_s)

    def calls_left(self, wanted: int) -> int:
        """Return how many of so many calls may still be made."""
        if not self._allowed.calls_max:
            return wanted
        return min(wanted, self._allowed.calls_max - self._calls)

    def spend(self, *, seconds: float, calls: int) -> None:
        """Take calls that were made off what is left."""
        self._spent_s += seconds
        self._calls += calls

    @property
    def refusal(self) -> str:
        """Return why nobody may be called any more, empty if calls are left."""
        if not self.seconds_left:
            return self.out_of_time
        if not self.calls_left(1):
            return (
                f"extender budget exhausted: {self._allowed.calls_max} calls are made; allow more "
                "with --extender-max-calls"
            )
        return ""

    @property
    def out_of_time(self) -> str:
        """Return what to say when time is up."""
        return (
            f"extender budget exhausted: {self._allowed.budget_s:g} s are spent on calls; allow more "
            "with --extender-budget"
        )


class Breaker:
    """Keeps an extender from being called for a while after it could not be reached, again and again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._closed_at_s = -math.inf

    def count(self, *, is_reached: bool) -> None:
        """Take in how a call went."""
        self._failures = 0 if is_reached else self._failures + 1
        if self._failures >= FAILURES_MAX:
            self._closed_at_s = self._clock.monotonic_s() + REST_S

    @property
    def refusal(self) -> str:
        """Return why the extender is not called now, empty if it may be."""
        if self._failures < FAILURES_MAX or self._clock.monotonic_s() >= self._closed_at_s:
            return ""
        return f"it was not asked, because the last {self._failures} calls did not reach it"
