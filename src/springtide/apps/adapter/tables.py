"""The samples of each metric, asked for when they are wanted and not more often than they change.

One answer serves all requests: while it is new nobody asks again, for a while after that it is still given
and renewed behind the back, and later whoever comes waits for the new one. Where that fails, the last
one counts as long as the metric allows.
"""

import asyncio
from collections.abc import Iterable
from typing import Final, Never

from springtide.apps.adapter.figures import Figures
from springtide.apps.adapter.queries import query_of, steps_to_samples
from springtide.base.clock import Calendar, Clock
from springtide.edge.lines import Log
from springtide.edge.prometheus import Prometheus, PrometheusFault
from springtide.engine.metrics import Metric, Table

RETRY_S: Final = 1.0
"""No sooner is asked again after a fault."""
LOOK_S: Final = 60.0
"""So often a metric is looked at about which nobody asks."""
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

    async def table(self, metric: Metric) -> Table | None:
        """Return what is known, None if nothing ever was."""
        keeper = self._keepers[metric.name]
        table, now_s = keeper.table, self._clock.monotonic_s()
        age_s = None if table is None else now_s - table.seen_s
        if age_s is not None and age_s < metric.refresh_s:
            return table
        if keeper.task is None and now_s >= keeper.retry_s:
            keeper.task = asyncio.create_task(self._renew(keeper))
        if keeper.task is not None and (age_s is None or age_s >= LINGER * metric.refresh_s):
            await asyncio.shield(keeper.task)
        return keeper.table

    async def look(self) -> Never:
        """Look at every metric at the start and each minute, so that its names are checked unasked."""
        while True:
            for keeper in self._keepers.values():
                await self.table(keeper.metric)
            await asyncio.sleep(LOOK_S)

    async def close(self) -> None:
        """Give up what is under way."""
        tasks = [each.task for each in self._keepers.values() if each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _renew(self, keeper: "_Keeper") -> None:
        metric = keeper.metric
        try:
            keeper.table = await self._asked(metric)
            self._tell(keeper, "")
        except PrometheusFault as fault:
            keeper.retry_s = self._clock.monotonic_s() + RETRY_S
            self._tell(keeper, str(fault))
            self._figures.failed(metric.name, type(fault).__name__)
        finally:
            keeper.task = None

    async def _asked(self, metric: Metric) -> Table:
        seen_s, unix_s = self._clock.monotonic_s(), self._calendar.unix_s()
        vector = await self._prometheus.query(query_of(metric))
        if vector.warnings:
            self._log("query_warned", is_fault=True, metric=metric.name, said=vector.warnings[0])
        steps = steps_to_samples(metric, vector, unix_s=unix_s, seen_s=seen_s)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                table: Table = done.value
                self._figures.renewed(metric.name, is_clear=len(table.names) < 2)  # noqa: PLR2004
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
        self.retry_s = 0.0
        self.fault = ""
