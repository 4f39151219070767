"""The fields of workloads and of their autoscalers that the lint of replicas reads."""

from typing import Any

from msgspec import field

from springtide.wire.k8s.schema import LabelSelector, Metadata, Read


class EnvVar(Read, frozen=True):
    """A variable that a container is given; one from elsewhere has no value of its own."""

    name: str = ""
    value: str = ""


class Lifecycle(Read, frozen=True):
    """What is called before a container is stopped."""

    pre_stop: dict[str, Any] = field(default_factory=dict)


class Port(Read, frozen=True):
    """A port of a container."""

    name: str = ""


class Container(Read, frozen=True):
    """A container."""

    name: str = ""
    env: tuple[EnvVar, ...] = ()
    ports: tuple[Port, ...] = ()
    lifecycle: Lifecycle = Lifecycle()


class PodSpec(Read, frozen=True):
    """What a pod is made of."""

    containers: tuple[Container, ...] = ()
    service_account_name: str = ""
    termination_grace_period_seconds: int = 30


class Template(Read, frozen=True):
    """The pod that a workload makes."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()


class Ordinals(Read, frozen=True):
    """Where a StatefulSet begins to count."""

    start: int = 0


class Retention(Read, frozen=True):
    """What becomes of volumes."""

    when_scaled: str = "Retain"


class RollingUpdate(Read, frozen=True):
    """How far an update goes."""

    partition: int = 0


class Strategy(Read, frozen=True):
    """How pods are replaced."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate = RollingUpdate()


class WorkloadSpec(
    Read, frozen=True, rename={"retention": "persistentVolumeClaimRetentionPolicy",
                               "pod_management_policy": "podManagementPolicy",
                               "min_ready_seconds": "minReadySeconds",
                               "update_strategy": "updateStrategy"}
):  # fmt: skip
    """What a workload is to be like; some of it is said by a StatefulSet only."""

    replicas: int | None = None
    selector: LabelSelector = LabelSelector()
    template: Template = Template()
    ordinals: Ordinals = Ordinals()
    pod_management_policy: str = "OrderedReady"
    min_ready_seconds: int = 0
    update_strategy: Strategy = Strategy()
    retention: Retention = Retention()


class Workload(Read, frozen=True):
    """A StatefulSet or a Deployment."""

    kind: str = ""
    metadata: Metadata = Metadata()
    spec: WorkloadSpec = WorkloadSpec()


class Reference(Read, frozen=True):
    """What an autoscaler scales."""

    kind: str = ""
    name: str = ""


class MetricName(Read, frozen=True):
    """A metric, and of whom it is."""

    name: str = ""
    selector: LabelSelector = LabelSelector()


class Target(Read, frozen=True):
    """What a metric is held against."""

    type: str = ""
    average_value: str | int | float | None = None


class External(Read, frozen=True):
    """A metric of a server of external metrics."""

    metric: MetricName = MetricName()
    target: Target = Target()


class Metric(Read, frozen=True):
    """One of the metrics that an autoscaler takes the largest of."""

    type: str = ""
    external: External = External()


class Rules(Read, frozen=True):
    """How an autoscaler goes in one direction."""

    tolerance: str | int | float | None = None
    select_policy: str = "Max"
    stabilization_window_seconds: int | None = None


class Behavior(Read, frozen=True):
    """How an autoscaler goes."""

    scale_up: Rules = Rules()
    scale_down: Rules = Rules()


class ScalerSpec(Read, frozen=True):
    """What an autoscaler does."""

    scale_target_ref: Reference = Reference()
    min_replicas: int = 1
    max_replicas: int = 0
    metrics: tuple[Metric, ...] = ()
    behavior: Behavior = Behavior()


class Autoscaler(Read, frozen=True):
    """A HorizontalPodAutoscaler."""

    api_version: str = "autoscaling/v2"
    metadata: Metadata = Metadata()
    spec: ScalerSpec = ScalerSpec()
