"""Carries out one command of the machine within its time, and says what came of it as an event.

An order whose time is up has an unknown outcome, whatever the executor thinks of it.
"""

import asyncio
from collections.abc import Awaitable
from typing import Final

from springtide.base.clock import Clock
from springtide.edge.executors import (
    ByIndex,
    ByNumber,
    Executor,
    NotDone,
    OutcomeUnknown,
    Unobservable,
)
from springtide.engine.replicas.executing import (
    Event,
    Failed,
    Kill,
    Observed,
    Order,
    Scaled,
    ScaleTo,
    Start,
    Started,
    StopGracefully,
    Stopped,
    TimedOut,
    Unobserved,
)

MARGIN_S: Final = 2.0
"""So much longer than an executor takes by itself is it waited for it."""
_MS: Final = 1000
LATE: Final = "It did not come back in time."


class Performing:
    """Performs commands of one executor."""

    def __init__(self, executor: Executor, *, clock: Clock, timeout_s: float) -> None:
        self._executor = executor
        self._clock = clock
        self._timeout_s = timeout_s + MARGIN_S

    def now_ms(self) -> int:
        """Return the time by which events are told."""
        return int(self._clock.monotonic_s() * _MS)

    async def observe(self) -> Observed | Unobserved:
        """Look which members there are."""
        asked_ms = self.now_ms()
        try:
            async with asyncio.timeout(self._timeout_s):
                found = await self._executor.observe()
        except TimeoutError:
            return Unobserved(words=LATE, now_ms=self.now_ms(), cause="look")
        except Unobservable as fault:
            return Unobserved(words=str(fault), now_ms=self.now_ms(), cause="look")
        return Observed(observation=found, asked_ms=asked_ms, now_ms=self.now_ms(), cause="look")

    async def order(self, order: Order) -> Event:
        """Give one order."""
        index = order.order.desired if isinstance(order, ScaleTo) else order.index
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._given(order)
        except NotDone as fault:
            return Failed(index=index, words=str(fault), now_ms=self.now_ms(), cause="order")
        except (OutcomeUnknown, TimeoutError) as fault:
            words = str(fault) or LATE
            return TimedOut(index=index, words=words, now_ms=self.now_ms(), cause="order")
        now_ms = self.now_ms()
        match order:
            case Start():
                return Started(index=index, now_ms=now_ms, cause="order")
            case ScaleTo():
                return Scaled(desired=index, now_ms=now_ms, cause="order")
            case _:
                return Stopped(index=index, now_ms=now_ms, cause="order")

    def _given(self, order: Order) -> Awaitable[None]:
        match self._executor, order:
            case ByIndex() as executor, Start(index=index):
                return executor.start(index)
            case ByIndex() as executor, StopGracefully(index=index):
                return executor.stop(index)
            case ByIndex() as executor, Kill(index=index):
                return executor.kill(index)
            case ByNumber() as executor, ScaleTo(order=found):
                return executor.scale(found)
            case _:
                raise AssertionError(f"{self._executor} takes no {order}")
