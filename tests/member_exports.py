"""What tests of exported metrics share: a process that uses what is said, two clocks, and a page read back."""

from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from springtide.base.clock import Calendar
from springtide.model.replicas.policy import MetricKind, Policy
from springtide.model.replicas.settings import PullSettings, ReplicaSettings
from springtide.model.replicas.status import Status
from springtide.model.replicas.workload import Workload
from springtide.replicas.exporting import Exported, Load, Naming
from springtide.replicas.observing import Observers
from springtide.replicas.process_load import ProcessLoad, RecentTasks
from springtide.replicas.registering import page, registry_of
from springtide.replicas.snapshot import PolicyShown, Snapshot, Tally

NOW_MS: Final = 1_700_000_000_000
EXPORT_S: Final = 10.0
WORKLOAD: Final = Workload(
    name="chat",
    kind="StatefulSet",
    api_version="apps/v1",
    environment="live",
    service="chat",
    service_namespace="game",
)
ROOMS: Final = Policy(name="rooms")
SENT: Final = Policy(name="sent", unit="By", kind=MetricKind.COUNTER)
SETTINGS: Final = ReplicaSettings(
    workload=WORKLOAD,
    is_enabled=True,
    built_in=(Policy(name="hpa_rule_recent_max_task_count", unit="count"),),
    custom=(ROOMS, SENT),
    pull=PullSettings(interval_ms=20_000, labels={"zone.name": "a"}),
)
STATUS: Final = Status(current=3, expect=5, start_ms=1, end_ms=2, scaling_ms=3, generation=7)
ANSWERED: Final = PolicyShown(
    name="rooms",
    value=450.0,
    pulled_ms=NOW_MS - 4_000,
    down_unknown="coverage",
    unknown_counts={"coverage": 2},
)
LEADER: Final = Snapshot(
    name="chat-0",
    is_enabled=True,
    is_leader=True,
    is_ready=True,
    is_target=True,
    has_stateful_check=True,
    status=STATUS,
    status_confirmed_ms=NOW_MS - 1_500,
    expected=5,
    stateful_index=1,
    mask=0x833,
    clock_offset_ms=-250,
    suggestion_up=5,
    policies=(ANSWERED,),
    tally=Tally(
        label_transitions={("hpa_scaling_target", "1"): 1},
        backend_errors={"renew": 3},
        exits={"drained": 1},
    ),
)


class Hand:
    """A clock and a calendar that go on by hand."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def monotonic_s(self) -> float:
        """Return the time."""
        return self.passed_s

    def unix_s(self) -> float:
        """Return the time as a date."""
        return NOW_MS / 1000 + self.passed_s


class Used:
    """A process that has used what the test says."""

    def __init__(self) -> None:
        self.processor: float | None = 0.0
        self.loop: float | None = 0.0
        self.resident: int | None = 1 << 20

    def processor_s(self) -> float | None:
        """Return it."""
        return self.processor

    def loop_s(self) -> float | None:
        """Return it."""
        return self.loop

    def resident_bytes(self) -> int | None:
        """Return it."""
        return self.resident


class Scraped:
    """One member and what it exports."""

    def __init__(
        self,
        snapshot: Snapshot = LEADER,
        settings: ReplicaSettings = SETTINGS,
        *,
        suffix: str = "",
        calendar: Calendar | None = None,
        has_load: bool = True,
    ) -> None:
        self.snapshot = snapshot
        self.hand = Hand()
        self.used = Used()
        self.observers = Observers(self.hand, spawn=lambda work: work())
        self.tasks = RecentTasks(self.hand, period_s=EXPORT_S)
        process = ProcessLoad(self.used, self.hand, export_interval_s=EXPORT_S)
        self.exported = Exported(
            lambda: self.snapshot,
            settings,
            observers=self.observers,
            load=Load(process=process, tasks=self.tasks) if has_load else None,
            calendar=calendar or self.hand,
            naming=Naming(suffix=suffix, discovery_labels={"zone": "b"}),
        )
        self.registry = registry_of(self.exported)

    def page(self) -> str:
        """Return what Prometheus reads."""
        return page(self.registry).decode()

    def samples(self, name: str) -> list[tuple[dict[str, str], float]]:
        """Return the samples of a metric, without the labels that all have."""
        shared = self.exported.labels()
        return [
            ({key: value for key, value in each.labels.items() if key not in shared}, each.value)
            for family in text_string_to_metric_families(self.page())
            for each in family.samples
            if each.name == name
        ]

    def value(self, name: str) -> float | None:
        """Return the one value of a metric, None if there is none."""
        found = [value for _, value in self.samples(name)]
        assert len(found) <= 1
        return found[0] if found else None
