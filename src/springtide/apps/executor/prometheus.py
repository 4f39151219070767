"""Wishes from Prometheus: what the members of one workload export of themselves.

One query for each of three metrics, scoped to the workload. A query that fails leaves all unknown.
"""

import asyncio
from collections.abc import Generator
from typing import Final

import msgspec

from springtide.apps.adapter.queries import query, steps_to_samples
from springtide.base.clock import Calendar, Clock
from springtide.edge.prometheus import Prometheus, PrometheusFault
from springtide.engine.metrics import Metric, Table
from springtide.engine.replicas.executing import Wish
from springtide.engine.replicas.wishing import Heard, wish
from springtide.model.replicas.matcher import Matcher

_METRICS: Final = ("expected", "index", "generation")


class Sought(msgspec.Struct, frozen=True, kw_only=True):
    """Which series say what, and which of them are of the workload."""

    expected: tuple[str, ...]
    index: tuple[str, ...]
    generation: tuple[str, ...]
    matchers: tuple[Matcher, ...]
    member_label: str = "instance"
    age_s_max: float = 60.0


class PrometheusWishes:
    """Asks Prometheus."""

    def __init__(
        self, prometheus: Prometheus, sought: Sought, *, clock: Clock, calendar: Calendar
    ) -> None:
        self._prometheus = prometheus
        self._sought = sought
        self._clock = clock
        self._calendar = calendar

    async def wish(self) -> Wish:
        """Return what the members say."""
        sought = self._sought
        try:
            expected, index, generation = await asyncio.gather(
                *(self._table(getattr(sought, each)) for each in _METRICS)
            )
        except PrometheusFault as fault:
            return Wish(why=str(fault).rstrip("."))
        heard = Heard(
            expected=expected,
            index=index,
            generation=generation,
            age_s_max=sought.age_s_max,
            member_label=sought.member_label,
        )
        return wish(heard)

    async def _table(self, series: tuple[str, ...]) -> Table:
        seen_s, unix_s = self._clock.monotonic_s(), self._calendar.unix_s()
        vector = await self._prometheus.query(query(series, self._sought.matchers))
        metric = Metric(name=series[0], series=series)
        return _last(steps_to_samples(metric, vector, unix_s=unix_s, seen_s=seen_s))


def _last(steps: Generator[None, None, Table]) -> Table:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            table: Table = done.value
            return table
