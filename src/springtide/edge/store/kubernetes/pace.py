"""What a store in a cluster reads the time from, and how it waits."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final

import msgspec

from springtide.base.clock import Calendar, Clock, Rng
from springtide.edge.store.port import CONFIRM_S

RETRY_S: Final = 1.0
"""So long it is waited before something is tried again, and by chance up to as much again."""
_JITTER_STEPS: Final = 1 << 16


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """A clock to compare by, a calendar that others only look at, and chance, so that not all come back at once.

    What was told is confirmed every `confirm_s` at the latest.
    """

    clock: Clock
    calendar: Calendar
    rng: Rng
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    confirm_s: float = CONFIRM_S

    @property
    def confirm_again_s(self) -> float:
        """Return how long after one confirmation the next is asked for."""
        return self.confirm_s - self.answer_s_max

    @property
    def answer_s_max(self) -> float:
        """Return how long an answer may take that nobody but the store itself waits for."""
        return self.confirm_s / 4

    def now_s(self) -> float:
        """Return the time of our own clock."""
        return self.clock.monotonic_s()

    def written_now(self) -> str:
        """Return the time of day as a Lease has it."""
        now = datetime.fromtimestamp(self.calendar.unix_s(), UTC)
        return now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    async def before_again(self) -> None:
        """Wait before something is tried again."""
        await self.pause(RETRY_S * (1 + self.rng.choice_index(_JITTER_STEPS) / _JITTER_STEPS))
