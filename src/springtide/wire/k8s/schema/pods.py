"""The fields of pods."""

from msgspec import Raw

from springtide.wire.k8s.schema.shared import ABSENT, Condition, Metadata, Quantities, Read
from springtide.wire.k8s.schema.volumes import Volume


class ContainerPort(Read, frozen=True, rename={"container_port": "containerPort", "host_port": "hostPort",
                                  "host_ip": "hostIP"}):  # fmt: skip
    """A port that a container names."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = ""
    protocol: str = ""


class ResourceRequirements(Read, frozen=True):
    """Requests and limits as written; a number counts as its text."""

    requests: Quantities | None = None
    limits: Quantities | None = None


class RestartRule(Read, frozen=True):
    """What to do when a container exits."""

    action: str = ""


class Container(Read, frozen=True):
    """A container of a pod."""

    name: str = ""
    image: str = ""
    resources: Raw = ABSENT
    ports: Raw = ABSENT
    restart_policy: str = ""
    restart_policy_rules: tuple[RestartRule, ...] = ()


class SchedulingGate(Read, frozen=True):
    """A gate that keeps a pod away from the scheduler."""

    name: str = ""


class PodClaim(Read, frozen=True):
    """Devices that a pod claims."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class WorkloadRef(Read, frozen=True):
    """The group of a workload that a pod belongs to (Kubernetes 1.35)."""

    name: str = ""
    pod_group: str = ""
    pod_group_replica_key: str = ""


class SchedulingGroup(Read, frozen=True):
    """The pod group that a pod belongs to (Kubernetes 1.36 and later)."""

    pod_group_name: str = ""


class PodSpec(Read, frozen=True):
    """What a pod wants."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    node_selector: Raw = ABSENT
    affinity: Raw = ABSENT
    tolerations: Raw = ABSENT
    topology_spread_constraints: Raw = ABSENT
    overhead: Raw = ABSENT
    resources: Raw = ABSENT
    scheduler_name: str = ""
    priority: int = 0
    priority_class_name: str = ""
    preemption_policy: str = ""
    host_network: bool = False
    host_users: bool | None = None
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    resource_claims: tuple[PodClaim, ...] = ()
    volumes: tuple[Volume, ...] = ()
    runtime_class_name: str = ""
    workload_ref: WorkloadRef | None = None
    scheduling_group: SchedulingGroup | None = None


class Terminated(Read, frozen=True):
    """The end of a container."""

    exit_code: int = 0


class ContainerState(Read, frozen=True):
    """What a container is doing, as far as it has ended."""

    terminated: Terminated | None = None


class ContainerStatus(Read, frozen=True):
    """What the kubelet reports of one container."""

    name: str = ""
    state: ContainerState = ContainerState()
    allocated_resources: Raw = ABSENT
    resources: Raw = ABSENT


class MadeClaim(Read, frozen=True):
    """A claim that was made for a pod."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(Read, frozen=True):
    """What is known of a pod's life."""

    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    allocated_resources: Raw = ABSENT
    resources: Raw = ABSENT
    resource_claim_statuses: tuple[MadeClaim, ...] = ()


class Pod(Read, frozen=True, tag="Pod", tag_field="kind"):
    """A pod."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
    status: PodStatus | None = None
