"""Writes events for people, after everything else.

They wait a little while changes of the cluster are to be made, a few are written at once, and of very many
some are not told: an event must never hold up a pod.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Final

from springtide.apps.extender.occurring import Occurrences
from springtide.base.clock import Calendar
from springtide.edge.cluster import AlreadyThere, Cluster
from springtide.engine.live import RecordEvent

WAIT_S: Final = 5.0
"""So long an event waits at the most for a moment in which nothing else is to be done."""
AT_ONCE: Final = 4
WAITING_MAX: Final = 4096
"""Events that wait; what comes beyond is not told."""

InTime = Callable[[Coroutine[object, object, None]], Coroutine[object, object, None]]
"""Does one request within its deadline."""


class Announcer:
    """Writes events; `quiet` is set while nothing else is to be done."""

    def __init__(self, cluster: Cluster, calendar: Calendar, *, component: str) -> None:
        self._cluster = cluster
        self._calendar = calendar
        self._occurrences = Occurrences(component)
        self._turns = asyncio.Semaphore(AT_ONCE)
        self.quiet = asyncio.Event()
        self.quiet.set()

    async def announce(self, event: RecordEvent, in_time: InTime) -> None:
        """Write an event, or raise ClusterFault; what was said just now is only counted."""
        say = self._occurrences.note(event, now_s=self._calendar.unix_s())
        if say is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S):
                await self.quiet.wait()
        write = self._cluster.record if say.is_new else self._cluster.recount
        # One of that name is there where the answer to an earlier try was lost.
        async with self._turns:
            with suppress(AlreadyThere):
                await in_time(write(say.occurrence))
