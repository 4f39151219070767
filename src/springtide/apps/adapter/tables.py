"""The samples of each metric, asked for when they are wanted and not more often than they change.

One answer serves all requests: while it is new nobody asks again, for a while after that it is still given
and renewed behind the back. Whoever comes later, after nobody has asked for long or because asking for all is
too much, asks for one workload alone; more than a few at once wait for all. Where that fails, the last answer counts
as long as the metric allows.
"""

import asyncio
from collections.abc import Iterable
from typing import Final, Never

from springtide.apps.adapter.figures import Figures
from springtide.apps.adapter.queries import query_of, steps_to_samples
from springtide.base.clock import Calendar, Clock
from springtide.edge.lines import Log
from springtide.edge.prometheus import Prometheus, PrometheusFault, Refused, TimedOut, TooLarge
from springtide.engine.metrics import Metric, Place, Table

RETRY_S: Final = 1.0
"""No sooner is asked again after a fault."""
LOOK_S: Final = 60.0
"""So often a metric is looked at about which nobody asks."""
NARROW_MAX: Final = 4
"""So many ask for one workload alone at once."""
TURN_S_MAX: Final = 2.0
"""So long is waited for a turn to do so."""
TOO_MUCH_S: Final = 30.0
"""No sooner are all asked for again when they were too much twice; each is asked for alone meanwhile."""
TOO_MUCH: Final = (TimedOut, TooLarge, Refused)
"""Faults of a query for all after which one for a single workload may still be answered."""
LINGER: Final = 2
"""So many times as long as an answer is new, it is given without waiting."""


class Tables:
    """The tables of all metrics."""

    def __init__(
        self,
        prometheus: Prometheus,
        metrics: Iterable[Metric],
        *,
        clock: Clock,
        calendar: Calendar,
        figures: Figures,
        log: Log,
    ) -> None:
        self._prometheus = prometheus
        self._clock = clock
        self._calendar = calendar
        self._figures = figures
        self._log = log
        self._keepers = {each.name: _Keeper(each) for each in metrics}

    async def table(self, metric: Metric, place: Place) -> Table | None:
        """Return what is known of a place, and maybe of all others, None if nothing ever was."""
        keeper = self._keepers[metric.name]
        table, now_s = keeper.table, self._clock.monotonic_s()
        age_s = None if table is None else now_s - table.seen_s
        if age_s is not None and age_s < metric.refresh_s:
            return table
        if keeper.task is None and now_s >= keeper.retry_s:
            keeper.task = asyncio.create_task(self._renew(keeper))
        if age_s is not None and age_s < LINGER * metric.refresh_s:
            return table
        if keeper.may_be_narrow(now_s):
            narrow = await self._narrow(keeper, place)
            if narrow is not None:
                return narrow
        if keeper.task is not None:
            await asyncio.shield(keeper.task)
        return keeper.table

    async def look(self) -> Never:
        """Look at every metric at the start and each minute, so that its names are checked unasked."""
        while True:
            for keeper in self._keepers.values():
                if keeper.task is None:
                    keeper.task = asyncio.create_task(self._renew(keeper))
                await asyncio.shield(keeper.task)
            await asyncio.sleep(LOOK_S)

    async def close(self) -> None:
        """Give up what is under way."""
        tasks: list[asyncio.Task[None] | asyncio.Task[Table | None]] = []
        for each in self._keepers.values():
            tasks += each.narrow.values()
            tasks += [] if each.task is None else [each.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _renew(self, keeper: "_Keeper") -> None:
        metric = keeper.metric
        try:
            keeper.table = await self._asked(metric, None)
            self._figures.checked(metric.name, is_clear=keeper.table.is_clear)
            self._tell(keeper, "")
        except PrometheusFault as fault:
            now_s = self._clock.monotonic_s()
            if isinstance(fault, TOO_MUCH):
                keeper.retry_s = now_s + (TOO_MUCH_S if keeper.fault else RETRY_S)
            else:
                keeper.retry_s = keeper.narrow_retry_s = now_s + RETRY_S
            self._tell(keeper, str(fault))
            self._figures.failed(metric.name, type(fault).__name__)
        finally:
            keeper.task, keeper.was_asked = None, True

    async def _narrow(self, keeper: "_Keeper", place: Place) -> Table | None:
        """Return what is known of one workload, None if that cannot be had; who asks the same shares it."""
        task = keeper.narrow.get(place)
        if task is None:
            task = keeper.narrow[place] = asyncio.create_task(self._narrowed(keeper, place))
            task.add_done_callback(lambda _: keeper.narrow.pop(place, None))
        return await asyncio.shield(task)

    async def _narrowed(self, keeper: "_Keeper", place: Place) -> Table | None:
        try:
            async with asyncio.timeout(TURN_S_MAX):
                await keeper.turns.acquire()
        except TimeoutError:
            return None
        try:
            now_s = self._clock.monotonic_s()
            if keeper.table is not None and now_s - keeper.table.seen_s < keeper.metric.refresh_s:
                return keeper.table
            if now_s < keeper.narrow_retry_s:
                return None
            found = await self._asked(keeper.metric, place)
            keeper.narrow_fault = ""
        except PrometheusFault as fault:
            keeper.retry_s = keeper.narrow_retry_s = self._clock.monotonic_s() + RETRY_S
            self._figures.failed(keeper.metric.name, type(fault).__name__)
            if str(fault) not in (keeper.fault, keeper.narrow_fault):
                self._log(
                    "query_failed", is_fault=True, metric=keeper.metric.name, message=str(fault)
                )
            keeper.narrow_fault = str(fault)
            return None
        else:
            return found
        finally:
            keeper.turns.release()

    async def _asked(self, metric: Metric, place: Place | None) -> Table:
        seen_s, unix_s = self._clock.monotonic_s(), self._calendar.unix_s()
        vector = await self._prometheus.query(query_of(metric, place))
        if vector.warnings:
            self._log("query_warned", is_fault=True, metric=metric.name, said=vector.warnings[0])
        steps = steps_to_samples(metric, vector, unix_s=unix_s, seen_s=seen_s)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                table: Table = done.value
                self._figures.renewed(metric.name)
                return table
            await asyncio.sleep(0)

    def _tell(self, keeper: "_Keeper", fault: str) -> None:
        """Tell a fault once, and that it is over."""
        if fault and fault != keeper.fault:
            self._log("query_failed", is_fault=True, metric=keeper.metric.name, message=fault)
        elif keeper.fault and not fault:
            self._log("query_answered", metric=keeper.metric.name)
        keeper.fault = fault


class _Keeper:
    """What is kept of one metric."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.table: Table | None = None
        self.task: asyncio.Task[None] | None = None
        self.turns = asyncio.Semaphore(NARROW_MAX)
        self.narrow: dict[Place, asyncio.Task[Table | None]] = {}
        self.narrow_fault = ""
        self.was_asked = False
        self.retry_s = 0.0
        self.narrow_retry_s = 0.0
        self.fault = ""

    def may_be_narrow(self, now_s: float) -> bool:
        """Return whether one workload alone may be asked for: all have been, and by one name.

        Where all are too much, everybody has to wait for a turn; otherwise all will be there sooner.
        """
        is_clear = self.table is None or self.table.is_clear
        is_open = self.was_asked and (bool(self.fault) or not self.turns.locked())
        return is_open and is_clear and now_s >= self.narrow_retry_s
