"""Answers that are kept a while, so many at the most; who asks the same at the same time waits for one.

Faults are not kept: whoever waits for the answer gets them, and the next one asks again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from springtide.base.clock import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """What one kind of question was answered."""

    def __init__(
        self,
        ask: Callable[[K], Awaitable[V]],
        *,
        clock: Clock,
        keep_s: float,
        entries_max: int,
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._keep_s = keep_s
        self._entries_max = entries_max
        self._kept: dict[K, tuple[float, V]] = {}
        self._asking: dict[K, asyncio.Task[V]] = {}

    def __len__(self) -> int:
        """Return how many answers are kept."""
        return len(self._kept)

    async def get(self, key: K) -> V:
        """Return the answer, or raise what came of asking."""
        kept = self._kept.get(key)
        if kept is not None and self._clock.monotonic_s() < kept[0]:
            return kept[1]
        task = self._asking.get(key)
        if task is None:
            task = asyncio.ensure_future(self._asked(key))
            self._asking[key] = task
            task.add_done_callback(lambda done: self._done(key, done))
        # Whoever goes away does not take the answer from the others.
        return await asyncio.shield(task)

    async def _asked(self, key: K) -> V:
        value = await self._ask(key)
        self._kept.pop(key, None)
        while len(self._kept) >= self._entries_max:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (self._clock.monotonic_s() + self._keep_s, value)
        return value

    def _done(self, key: K, task: asyncio.Task[V]) -> None:
        del self._asking[key]
        if not task.cancelled():
            # It is known by now, even if nobody waits any more.
            task.exception()
