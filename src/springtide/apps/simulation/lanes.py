"""Work that takes a while, beside the event loop: lanes, in each of which one call is worked on at a time.

Lanes are threads. The calls of one are a queue without gaps, so that at most one call a lane holds memory
beyond its body, and what was remembered serves everybody; bodies of tens of megabytes are handed over
without a copy, which a process could not have. The loop goes on meanwhile: it gets its turn within
milliseconds. Cores beyond the first are used by further replicas.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

from springtide.base.errors import SpringtideError

T = TypeVar("T")

RETRY_S: Final = 1.0
"""After so long it makes sense to try again where a lane is full."""


class LaneFull(SpringtideError):
    """As many calls wait as may."""


class Lane:
    """One thread, and the calls that wait for it."""

    def __init__(self, name: str, *, waiting_max: int) -> None:
        self._waiting_max = waiting_max
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self.name = name
        self.under_way = 0

    async def run(self, work: Callable[[], T], *, is_own: bool = False) -> T:
        """Return what the work returns, once it is its turn; or raise LaneFull unless it is our own.

        Work that is cancelled while it waits is never begun; what has begun goes on to its end, and
        takes up its place until then.
        """
        if self.under_way > self._waiting_max and not is_own:
            raise LaneFull(
                f"{self._waiting_max} calls of this kind wait already. Try again, or ask another replica."
            )
        loop = asyncio.get_running_loop()
        self.under_way += 1
        future = self._executor.submit(work)
        future.add_done_callback(lambda done: self._done(loop, done))
        return await asyncio.wrap_future(future)

    def end(self) -> None:
        """Begin nothing more."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _done(self, loop: asyncio.AbstractEventLoop, _done: Future[Any]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._leave)

    def _leave(self) -> None:
        self.under_way -= 1
