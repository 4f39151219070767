"""How the process stands, looked at when somebody asks: what waits, how old its knowledge is, who leads."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from springtide import __version__
from springtide.apps.extender.figures import PREFIX
from springtide.apps.extender.following import Following
from springtide.apps.extender.performing import Performer
from springtide.apps.extender.scheduling import Scheduling
from springtide.base.clock import Clock

_BUILD: Final = "springtide_build"


class Standing(Collector):
    """Collects it."""

    def __init__(
        self,
        scheduling: Scheduling,
        performer: Performer,
        following: Following,
        clock: Clock,
    ) -> None:
        self._scheduling = scheduling
        self._performer = performer
        self._following = following
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        scheduling, performer = self._scheduling, self._performer
        yield _gauge("leading", "Whether this replica decides.", scheduling.is_leading)
        yield _gauge("ready", "Whether the cluster is known.", scheduling.ready.is_set())
        yield _gauge("binds_waiting", "Binds that are under way.", scheduling.binds)
        yield _gauge("commands_waiting", "Changes of the cluster to be made.", performer.waiting)
        yield _counter(
            "commands_failed", "Changes that the API server did not make.", performer.failed
        )
        yield _counter("commands_dropped", "Changes given up for want of room.", performer.dropped)
        yield from self._reservations()
        yield self._ages()
        yield self._skipped()
        build = GaugeMetricFamily(f"{_BUILD}_info", "The version.", labels=["version"])
        build.add_metric([__version__], 1)
        yield build

    def _reservations(self) -> Iterator[Metric]:
        live, pods = self._scheduling.live, self._following.pods
        tracking = live.tracking
        lost = sum(
            each.uid not in pods and each.uid not in tracking.waiting for each in live.holders.all()
        )
        held = len(tracking.reservations)
        yield _gauge("reservations_held", "Devices held for pods that are not bound.", held)
        yield _gauge("reservations_leaked", "Devices held for pods that are not there.", lost)
        yield _counter("reservations_expired", "Given up, as nobody bound them.", tracking.expired)

    def _ages(self) -> Metric:
        now_s = self._clock.monotonic_s()
        ages = GaugeMetricFamily(
            f"{PREFIX}_cache_age_seconds",
            "How long ago the API server was last heard of objects of a kind.",
            labels=["kind"],
        )
        for name, heard in self._following.heard.items():
            if heard.last_s is not None:
                ages.add_metric([name], now_s - heard.last_s)
        return ages

    def _skipped(self) -> Metric:
        skipped = CounterMetricFamily(
            f"{PREFIX}_objects_skipped",
            "Versions of objects that could not be read.",
            labels=["kind"],
        )
        for name, heard in self._following.heard.items():
            skipped.add_metric([name], heard.skipped)
        return skipped


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"{PREFIX}_{name}", text, value=float(value))


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"{PREFIX}_{name}", text, value=float(value))
