"""What a member exports, whoever reads it: all from the latest snapshot, when somebody collects.

`registering` shows it to Prometheus, `telemetry` to OpenTelemetry. A collection is one pass over a table; it waits
for nobody and may happen in any thread.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from springtide.base.clock import Calendar, Clock
from springtide.edge.usage import MachineUsage
from springtide.engine.replicas.export import EXPECT, EXPECT_OBSERVED, STATEFUL_INDEX
from springtide.engine.replicas.names import label_name, metric_name
from springtide.engine.replicas.pulling import received_ago_ms_max
from springtide.engine.replicas.setup import policies
from springtide.model.replicas.policy import MetricKind, Policy
from springtide.model.replicas.settings import ReplicaSettings
from springtide.replicas.figures import FIGURES, Figure
from springtide.replicas.moments import Moment
from springtide.replicas.observing import Labels, Observers
from springtide.replicas.process_load import ProcessLoad, RecentTasks
from springtide.replicas.snapshot import Snapshot

UNKNOWN_SERVICE: Final = "UNKNOWN"
_DISCOVERED: Final = (EXPECT, EXPECT_OBSERVED, STATEFUL_INDEX)


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """The built-in observers of a process."""

    process: ProcessLoad
    tasks: RecentTasks


def load_here(clock: Clock, settings: ReplicaSettings) -> Load:
    """Return the load of this process; call it in the thread of the event loop."""
    interval_s = settings.pull.export_interval_ms / 1000
    process = ProcessLoad(MachineUsage(), clock, export_interval_s=interval_s)
    return Load(process=process, tasks=RecentTasks(clock, period_s=interval_s))


class Naming(msgspec.Struct, frozen=True, kw_only=True):
    """How other fleets name and label: `_count` behind replicas and index, labels for these alone.

    `service` is what the service is called where its workload does not say.
    """

    suffix: str = ""
    service: str = ""
    discovery_labels: dict[str, str] = {}


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """A metric with all its samples of one collection."""

    name: str
    text: str
    kind: MetricKind
    samples: list[tuple[dict[str, str], float]]


class Exported:
    """The metrics of one member, whoever exports them.

    Without a load nothing is said of the process: a process beside the application is not what is to be scaled.
    """

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        settings: ReplicaSettings,
        *,
        observers: Observers | None,
        load: Load | None,
        calendar: Calendar,
        naming: Naming | None = None,
    ) -> None:
        self._snapshot = snapshot
        self.observers = observers
        self.load = load
        self._calendar = calendar
        self.naming = naming or Naming()
        self.reload(settings)

    def reload(self, settings: ReplicaSettings) -> None:
        """Take other settings: labels, policies and the export interval."""
        self._settings = settings
        self.policies = _by_metric(policies(settings))
        if self.load is not None:
            interval_s = settings.pull.export_interval_ms / 1000
            self.load.process.export_interval_s = self.load.tasks.period_s = interval_s

    def collect(self) -> Iterator[Series]:
        """Yield every metric that has samples now."""
        moment, labels = self.moment(), self.labels()
        for figure in FIGURES:
            yield self._series(figure, moment, labels)
        for name, text in BUILT_IN.items():
            yield self._built_in(name, text, labels)
        for name in self.policies:
            custom = self._custom(name, labels)
            if custom is not None:
                yield custom

    def figure(self, figure: Figure) -> Series:
        """Return one metric of the table alone."""
        return self._series(figure, self.moment(), self.labels())

    def built_in(self, name: str) -> Series:
        """Return one metric of the process alone."""
        return self._built_in(name, BUILT_IN[name], self.labels())

    def custom(self, name: str) -> Series | None:
        """Return one metric of the application alone, None if it is none of its own."""
        return self._custom(name, self.labels())

    def moment(self) -> Moment:
        """Return what is known now."""
        return Moment(
            snapshot=self._snapshot(),
            now_s=self._calendar.unix_s(),
            answer_ms_max=received_ago_ms_max(self._settings.pull),
            skipped=self.observers.skipped() if self.observers is not None else {},
        )

    def labels(self) -> dict[str, str]:
        """Return what tells this member from others; job and instance are the scraper's own."""
        workload = self._settings.workload
        said = {
            "deployment_environment_name": workload.environment,
            "service_namespace": workload.service_namespace,
            "service_name": workload.service or self.naming.service or UNKNOWN_SERVICE,
            "service_instance_id": self._snapshot().name,
            "hpa_target_kind": workload.kind,
            "hpa_target_name": workload.name,
            "hpa_target_api_version": workload.api_version,
        }
        added = {label_name(name): value for name, value in self._settings.pull.labels.items()}
        return {name: value for name, value in {**said, **added}.items() if value}

    def name(self, figure: Figure) -> str:
        """Return what a metric is called here."""
        return figure.name + (self.naming.suffix if figure.has_suffix else "")

    def _series(self, figure: Figure, moment: Moment, labels: Mapping[str, str]) -> Series:
        shared = dict(labels)
        if figure.name in _DISCOVERED:
            added = self.naming.discovery_labels
            shared = {**{label_name(name): value for name, value in added.items()}, **shared}
        samples = [
            ({**shared, **dict(zip(figure.labels, own, strict=True))}, float(value))
            for own, value in figure.rows(moment)
        ]
        return Series(name=self.name(figure), text=figure.text, kind=figure.kind, samples=samples)

    def _built_in(self, name: str, text: str, labels: Mapping[str, str]) -> Series:
        """Return what the process says, or the application in its place."""
        observed = self._observed(self.policies.get(name))
        if observed is not None:
            samples = _labelled(observed, labels)
        else:
            value = None if self.load is None else _READ[name](self.load)
            samples = [] if value is None else [(dict(labels), float(value))]
        return Series(name=name, text=text, kind=MetricKind.GAUGE, samples=samples)

    def _custom(self, name: str, labels: Mapping[str, str]) -> Series | None:
        policy = self.policies.get(name)
        if policy is None or name in BUILT_IN or any(self.name(each) == name for each in FIGURES):
            return None
        observed = self._observed(policy)
        if observed is None:
            return None
        samples = _labelled(observed, labels)
        text = f"What the application says for the policy {policy.name}."
        return Series(name=name, text=text, kind=policy.kind, samples=samples)

    def _observed(self, policy: Policy | None) -> list[tuple[Labels, float]] | None:
        """Return what the application says for a policy, None where nobody observes it."""
        observers = self.observers
        if policy is None or observers is None or not observers.has(policy.name):
            return None
        return observers.samples(policy.name)


BUILT_IN: Final = {
    "hpa_rule_cpu_permillage": "Thousandths of a core that this process used lately.",
    "hpa_rule_main_thread_cpu_permillage": "Thousandths of a core that the event loop used lately.",
    "hpa_rule_memory_bytes": "Memory that this process holds.",
    "hpa_rule_recent_max_task_count": "The most tasks that were under way at once lately.",
}
_READ: Final[dict[str, Callable[[Load], int | None]]] = {
    "hpa_rule_cpu_permillage": lambda load: load.process.cpu_permillage(),
    "hpa_rule_main_thread_cpu_permillage": lambda load: load.process.main_thread_permillage(),
    "hpa_rule_memory_bytes": lambda load: load.process.memory_bytes(),
    "hpa_rule_recent_max_task_count": lambda load: load.tasks.recent_max(),
}


def _by_metric(listed: Iterable[Policy]) -> dict[str, Policy]:
    """Return policies by what their metrics are called; of two for one metric the first observes."""
    found: dict[str, Policy] = {}
    for each in listed:
        found.setdefault(metric_name(each.name, unit=each.unit, kind=each.kind), each)
    return found


def _labelled(
    samples: Iterable[tuple[Labels, float]], labels: Mapping[str, str]
) -> list[tuple[dict[str, str], float]]:
    """Return samples with the labels of this member, which an observer cannot take away."""
    return [({**dict(own), **labels}, value) for own, value in samples]
