"""ReplicasConfiguration as it is written: the fields, their names and their defaults."""

from typing import Final, Literal

import msgspec

from springtide.model.replicas.policy import MetricKind, Multi, Operator, RangeFunction, Reduction
from springtide.wire.crd.adapter import PrometheusEntry
from springtide.wire.crd.replica_member import ApplicationEntry, ProcessEntry, StoreEntry

API_VERSION: Final = "springtide.io/v1alpha1"
KIND: Final = "ReplicasConfiguration"


class _Strict(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the document in which every field counts."""


class WorkloadEntry(_Strict, frozen=True, kw_only=True):
    """The workload, and how its members name themselves in metrics."""

    name: str
    kind: str = "StatefulSet"
    api_version: str = "apps/v1"
    environment: str = ""
    service: str = ""
    service_namespace: str = ""


class BoundsEntry(_Strict, frozen=True, kw_only=True):
    """The fewest and the most replicas; zero does not limit."""

    min: int = 0
    max: int = 0


class ScheduleEntry(_Strict, frozen=True, kw_only=True):
    """How long after each other a round's start, end and scaling are."""

    start_delay: str = "0s"
    period: str = "0s"
    scaling_delay: str = "0s"


class DirectionEntry(_Strict, frozen=True, kw_only=True):
    """How long a change must have been asked for, and how far one goes; zero does not limit."""

    window: str = "0s"
    step_max: int = 0


class MatcherEntry(_Strict, frozen=True, kw_only=True):
    """A condition that is not plain equality."""

    op: Literal["=", "!=", "=~", "!~"] = "="
    value: str


class AggregationEntry(_Strict, frozen=True, kw_only=True):
    """What joins the series of all members."""

    operator: Operator
    by: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    k: int = 0
    value_label: str = ""


class FunctionEntry(_Strict, frozen=True, kw_only=True):
    """What looks back over a range."""

    name: RangeFunction
    range: str


class ThresholdsEntry(_Strict, frozen=True, kw_only=True):
    """What one replica may carry before it grows, and below which it shrinks; zero is unused."""

    up: int = 0
    down: int = 0


class StepsEntry(_Strict, frozen=True, kw_only=True):
    """How far one policy may ask in one step; zero does not limit."""

    up: int = 0
    down: int = 0


class WindowsEntry(_Strict, frozen=True, kw_only=True):
    """For how long one policy must have asked."""

    up: str = "0s"
    down: str = "0s"


class ValidityEntry(_Strict, frozen=True, kw_only=True):
    """When a value may count; what is unsaid follows the policy and the export interval."""

    data_age_max: str = ""
    clock_skew_max: str = "30s"
    coverage_up_permille: int = 500
    coverage_down_permille: int = 1000
    value_min: int | None = None
    value_max: int | None = None
    empty_means: Literal["unknown", "zero"] = "unknown"
    zero_means: Literal["", "unknown", "zero"] = ""
    warnings_block_up: bool = False
    warnings_block_down: bool = True


class FallbackEntry(_Strict, frozen=True, kw_only=True):
    """How many replicas stand for a metric that failed so often in a row; zero replicas are none."""

    replicas: int = 0
    failure_threshold: int = 3


class PolicyEntry(_Strict, frozen=True, kw_only=True):
    """One metric."""

    metric: str = ""
    unit: str = ""
    type: MetricKind = MetricKind.GAUGE
    aggregation: AggregationEntry | None = None
    functions: tuple[FunctionEntry, ...] = ()
    selectors: dict[str, str | MatcherEntry] = {}
    without_selectors: tuple[str, ...] = ()
    query: str = ""
    coverage_query: str = ""
    age_query: str = ""
    heartbeat: bool = True
    thresholds: ThresholdsEntry = ThresholdsEntry()
    step_max: StepsEntry = StepsEntry()
    window: WindowsEntry = WindowsEntry()
    required: bool = True
    semantics: Literal["", "total"] = ""
    multi: Multi = Multi.ERROR
    reduction: Reduction = Reduction.LAST
    validity: ValidityEntry = ValidityEntry()
    fallback: FallbackEntry = FallbackEntry()


class PoliciesEntry(_Strict, frozen=True, kw_only=True):
    """The metrics that every member has, and those of one's own."""

    cpu: PolicyEntry | None = None
    main_thread_cpu: PolicyEntry | None = None
    memory: PolicyEntry | None = None
    recent_tasks: PolicyEntry | None = None
    controller_status: PolicyEntry | None = None
    custom: tuple[PolicyEntry, ...] = ()


class MetricsEntry(_Strict, frozen=True, kw_only=True):
    """How metrics are asked for."""

    enabled: bool = False
    pull_interval: str = "180s"
    pull_retry_interval: str = ""
    pull_timeout: str = "10s"
    export_interval: str = "10s"
    scrape_interval: str = "15s"
    status_max_age: str = "60s"
    look_back_permille: int = 4500
    instance_label: str = "service_instance_id"
    labels: dict[str, str] = {}
    selectors: dict[str, str | MatcherEntry] = {}
    without_selectors: tuple[str, ...] = ()


class ControllerEntry(_Strict, frozen=True, kw_only=True):
    """Whether the members decide at all, and how labels follow."""

    enabled: bool = False
    labels_led: bool = True
    early_ready: bool = False
    init_wait: str = "60s"
    lease_ttl: str = "15s"
    stop_grace: str = ""


class DeploymentEntry(_Strict, frozen=True, kw_only=True):
    """Whether the leader says which pods of a Deployment go first."""

    coordination: bool = False


class ReplicasDocument(_Strict, frozen=True, kw_only=True):
    """The document as written; its metadata names it and decides nothing."""

    api_version: Literal["springtide.io/v1alpha1"] = API_VERSION
    kind: Literal["ReplicasConfiguration"] = KIND
    metadata: dict[str, object] = {}
    workload: WorkloadEntry
    profile: Literal["safe", "legacy"] = "safe"
    mode: Literal["active", "observe", "drain_all"] | None = None
    window_mode: Literal["kubernetes", "grow"] | None = None
    rounding: Literal["ceil", "truncate"] | None = None
    scale_up_publish: Literal["after_schedule", "early"] | None = None
    election: Literal["lease", "deterministic"] | None = None
    index_allocation: Literal["sorted", "allocated"] | None = None
    preempt_up: bool | None = None
    followers_export: bool | None = None
    controller: ControllerEntry = ControllerEntry()
    replicas: BoundsEntry = BoundsEntry()
    schedule: ScheduleEntry = ScheduleEntry()
    scale_up: DirectionEntry = DirectionEntry()
    scale_down: DirectionEntry = DirectionEntry()
    round_cancel_after: str = ""
    metrics: MetricsEntry = MetricsEntry()
    policies: PoliciesEntry = PoliciesEntry()
    deployment: DeploymentEntry = DeploymentEntry()
    store: StoreEntry | None = None
    prometheus: PrometheusEntry | None = None
    application: ApplicationEntry = ApplicationEntry()
    process: ProcessEntry = ProcessEntry()
