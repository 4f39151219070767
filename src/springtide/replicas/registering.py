"""What a member exports as Prometheus reads it, from what a process has at hand.

    load = load_here(clock, settings)
    shown = registry(
        settings, identity, snapshot=controller.snapshot, observers=observers, load=load, calendar=calendar
    )
    body = page(shown)

A process beside the application has no observers and no load, and says nothing in their place. After a reload
make a new registry: all that is counted is in the snapshot or with the observers, so nothing is lost.
"""

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from springtide.base.clock import Calendar
from springtide.model.replicas.policy import MetricKind
from springtide.model.replicas.settings import ReplicaSettings
from springtide.replicas.context import Identity
from springtide.replicas.exporting import Exported, Load, Naming, Series
from springtide.replicas.observing import Observers
from springtide.replicas.snapshot import Snapshot

_TOTAL: Final = "_total"


def registry(
    settings: ReplicaSettings,
    identity: Identity,
    *,
    snapshot: Callable[[], Snapshot],
    observers: Observers | None,
    calendar: Calendar,
    load: Load | None = None,
    suffix: str = "",
) -> CollectorRegistry:
    """Return a registry with all that this member exports, and nothing else."""
    naming = Naming(suffix=suffix, service=identity.service, discovery_labels=identity.labels)
    exported = Exported(
        snapshot, settings, observers=observers, load=load, calendar=calendar, naming=naming
    )
    return registry_of(exported)


def registry_of(exported: Exported) -> CollectorRegistry:
    """Return a registry with nothing but what a member exports."""
    made = CollectorRegistry()
    made.register(ReplicaCollector(exported))
    return made


def page(made: CollectorRegistry) -> bytes:
    """Return what `/metrics` shows, in the text format."""
    return generate_latest(made)


class ReplicaCollector(Collector):
    """Shows it to Prometheus."""

    def __init__(self, exported: Exported) -> None:
        self._exported = exported

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics that have samples."""
        for each in self._exported.collect():
            if each.samples:
                yield _family(each)


def _family(series: Series) -> Metric:
    family: Metric
    if series.kind is MetricKind.COUNTER:
        family = CounterMetricFamily(series.name.removesuffix(_TOTAL), series.text)
    else:
        family = GaugeMetricFamily(series.name, series.text)
    for labels, value in series.samples:
        family.add_sample(series.name, labels, value)
    return family
