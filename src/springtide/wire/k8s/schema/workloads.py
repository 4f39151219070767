"""The fields of what makes pods, and of services that select them."""

from typing import TypeAlias

from msgspec import field

from springtide.wire.k8s.schema.affinity import LabelSelector
from springtide.wire.k8s.schema.pods import PodSpec
from springtide.wire.k8s.schema.shared import Condition, Metadata, Present, Read


class PodTemplate(Read, frozen=True):
    """The pod that a workload makes."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()


class ReplicaSpec(Read, frozen=True):
    """What a workload with a number of replicas wants."""

    replicas: int = 1
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()


class Deployment(Read, frozen=True, tag="Deployment", tag_field="kind"):
    """A deployment."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: ReplicaSpec = ReplicaSpec()


class ReplicaSet(Read, frozen=True, tag="ReplicaSet", tag_field="kind"):
    """A replica set."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: ReplicaSpec = ReplicaSpec()


class StatefulSetSpec(ReplicaSpec, frozen=True):
    """What a stateful set wants."""

    volume_claim_templates: tuple[Present, ...] = ()


class StatefulSet(Read, frozen=True, tag="StatefulSet", tag_field="kind"):
    """A stateful set."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: StatefulSetSpec = StatefulSetSpec()


class SelectorSpec(Read, frozen=True):
    """What selects pods by plain labels."""

    selector: dict[str, str] = field(default_factory=dict)


class ReplicationController(Read, frozen=True, tag="ReplicationController", tag_field="kind"):
    """A replication controller, of which only the selector counts."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: SelectorSpec = SelectorSpec()


class Service(Read, frozen=True, tag="Service", tag_field="kind"):
    """A service, of which only the selector counts."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: SelectorSpec = SelectorSpec()


class JobSpec(Read, frozen=True):
    """What a job wants."""

    parallelism: int = 1
    completions: int | None = None
    suspend: bool = False
    template: PodTemplate = PodTemplate()


class JobStatus(Read, frozen=True):
    """How far a job is."""

    active: int = 0
    succeeded: int = 0
    conditions: tuple[Condition, ...] = ()


class Job(Read, frozen=True, tag="Job", tag_field="kind"):
    """A job."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class DaemonSetSpec(Read, frozen=True):
    """What a daemon set wants."""

    template: PodTemplate = PodTemplate()


class DaemonSet(Read, frozen=True, tag="DaemonSet", tag_field="kind"):
    """A daemon set."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: DaemonSetSpec = DaemonSetSpec()


Workload: TypeAlias = Deployment | ReplicaSet | StatefulSet | Job | DaemonSet
