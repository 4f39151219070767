"""The fields of Kubernetes objects that we read, in the shape in which the API writes them.

Unknown fields are ignored, because an object has hundreds. Parts that whole fleets share word for
word (resources, tolerations, affinity) stay `Raw`: they are converted once for equal bytes, see
`parts`. Decoded objects cannot form cycles, so the collector need not track them; with half a
million of them that is most of the time.
"""

from typing import TypeAlias

from msgspec import Raw, Struct

from springtide.base.selectors import NodeSelectorRequirement
from springtide.base.taints import Taint, Toleration

ABSENT = Raw()
Quantities: TypeAlias = dict[str, str | int | float]


class Read(Struct, frozen=True, rename="camel", gc=False):
    """Whatever we read from an object."""


class OwnerReference(Read, frozen=True):
    """Who made an object; one of them is its controller."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Metadata(Read, frozen=True):
    """The part that all objects share."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    # Manifests made from types carry an explicit null here.
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None


class Condition(Read, frozen=True):
    """One condition of a pod or a job."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class Present(Read, frozen=True):
    """An object of which only its presence counts."""


# ---- nodes


class NodeCondition(Read, frozen=True):
    """One condition of a node; its reason and message decide nothing."""

    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class NodeSpec(Read, frozen=True, rename={"provider_id": "providerID"}):
    """What is set about a node."""

    provider_id: str = ""
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(Read, frozen=True):
    """What the kubelet reports."""

    capacity: Raw = ABSENT
    allocatable: Raw = ABSENT
    conditions: tuple[NodeCondition, ...] = ()
    declared_features: tuple[str, ...] = ()
    images: Raw = ABSENT


class ContainerImage(Read, frozen=True):
    """An image that a node has."""

    names: tuple[str, ...] = ()
    size_bytes: int = 0


class Node(Read, frozen=True, tag="Node", tag_field="kind"):
    """A node."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


# ---- namespaces


class Namespace(Read, frozen=True, tag="Namespace", tag_field="kind"):
    """A namespace, of which only the labels count."""

    api_version: str = ""
    metadata: Metadata = Metadata()


# ---- pods


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


class LabelRequirement(Read, frozen=True):
    """One of the expressions of a label selector; the operator may be anything."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Read, frozen=True):
    """A label selector."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelRequirement, ...] = ()


class PodAffinityTerm(Read, frozen=True):
    """Which pods a pod likes to be near, or away from."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Read, frozen=True):
    """A preference; it excludes no node."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Read, frozen=True):
    """Pod affinity or anti-affinity."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class NodeTerm(Read, frozen=True):
    """A node selector term."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class RequiredNodeAffinity(Read, frozen=True):
    """Required node affinity: at least one term must match."""

    node_selector_terms: tuple[NodeTerm, ...] = ()


class PreferredNodeTerm(Read, frozen=True):
    """A preference; it excludes no node."""

    weight: int = 0
    preference: NodeTerm = NodeTerm()


class NodeAffinity(Read, frozen=True):
    """Node affinity."""

    required_during_scheduling_ignored_during_execution: RequiredNodeAffinity | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredNodeTerm, ...] = ()


class Affinity(Read, frozen=True):
    """All that a pod says about where it likes to be."""

    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()


class TopologySpreadConstraint(Read, frozen=True):
    """A topology spread constraint."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class ClaimSource(Read, frozen=True):
    """A claim in the pod's namespace."""

    claim_name: str = ""


class GceDisk(Read, frozen=True):
    """A disk of Google's cloud."""

    pd_name: str = ""
    read_only: bool = False


class AwsDisk(Read, frozen=True, rename={"volume_id": "volumeID", "read_only": "readOnly"}):
    """A disk of Amazon's cloud."""

    volume_id: str = ""
    read_only: bool = False


class AzureDisk(Read, frozen=True):
    """A disk of Microsoft's cloud."""

    disk_name: str = ""


class IscsiDisk(Read, frozen=True):
    """A disk behind iSCSI."""

    iqn: str = ""
    read_only: bool = False


class RbdImage(Read, frozen=True):
    """A block device of Ceph."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class ImageVolume(Read, frozen=True):
    """A volume that is an image."""

    reference: str = ""


class Volume(Read, frozen=True):
    """A volume, as far as its kind can decide about nodes; an image has a say in scores only."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: Present | None = None
    gce_persistent_disk: GceDisk | None = None
    aws_elastic_block_store: AwsDisk | None = None
    rbd: RbdImage | None = None
    iscsi: IscsiDisk | None = None
    azure_disk: AzureDisk | None = None
    image: ImageVolume | None = None

    @property
    def decides(self) -> bool:
        """Return whether the volume is of a kind that can decide about nodes."""
        return (
            self.persistent_volume_claim is not None
            or self.ephemeral is not None
            or self.gce_persistent_disk is not None
            or self.aws_elastic_block_store is not None
            or self.rbd is not None
            or self.iscsi is not None
            or self.azure_disk is not None
        )


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


# ---- workloads


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

    selector: dict[str, str] = {}


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


# ---- classes


class PriorityClass(Read, frozen=True, tag="PriorityClass", tag_field="kind"):
    """A priority by name."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""


class Overhead(Read, frozen=True):
    """What a runtime needs beside the containers."""

    pod_fixed: Raw = ABSENT


class RuntimeScheduling(Read, frozen=True):
    """Which nodes support a runtime."""

    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(Read, frozen=True, tag="RuntimeClass", tag_field="kind"):
    """A container runtime by name."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    overhead: Overhead = Overhead()
    scheduling: RuntimeScheduling = RuntimeScheduling()


Workload: TypeAlias = Deployment | ReplicaSet | StatefulSet | Job | DaemonSet
Object: TypeAlias = (
    Node
    | Pod
    | Namespace
    | Deployment
    | ReplicaSet
    | StatefulSet
    | Job
    | DaemonSet
    | PriorityClass
    | RuntimeClass
    | Service
    | ReplicationController
)
