"""Pods: what they ask for, where they are, and what a device family wrote on them.

`PodSpec` holds everything that a scheduling rule reads and nothing that differs between the
replicas of one workload; it is hashable, and decoders hand out one object for equal specs, so that
equal pods are found by identity. `Pod` adds what is the pod's own.
"""

from collections.abc import Mapping

import msgspec

from springtide.base.selectors import NodeSelectorTerm
from springtide.base.taints import Toleration
from springtide.model.neighbours import ALONE, Neighbours
from springtide.model.preferences import INDIFFERENT, Preferences
from springtide.model.resources import Resources
from springtide.model.volumes import Volume

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"


class HostPort(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A port claimed on the node itself; an empty address means every address (`0.0.0.0`)."""

    host_ip: str = "0.0.0.0"  # noqa: S104 - the wildcard of the API, nothing is bound here
    protocol: str = "TCP"
    port: int


class Container(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one container asks for; a sidecar is an init container that keeps running."""

    name: str
    requests: Resources = ()
    limits: Resources = ()
    host_ports: tuple[HostPort, ...] = ()
    is_sidecar: bool = False


class PodClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Devices that a pod claims, under a name of its own: by a claim, or one made by a template."""

    name: str
    claim: str = ""
    template: str = ""


class PodSpec(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """The part of a pod that scheduling rules read. Hashable; equal replicas share one object.

    `required_node_terms` is None when there is no required node affinity (everything matches) and
    an empty tuple when there is one without terms (nothing matches). `neighbours` is what the pod
    asks about other pods, `required_features` are those that the node's kubelet must declare, and
    `device_claims` what it claims of devices. `may_preempt` says whether others may have to go for it.
    `fields` names the API fields in use that no rule here reads, such as `volumes.disk`, so that a
    reader can say what was not looked at.
    """

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Resources = ()
    requests: Resources = ()
    limits: Resources = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    required_node_terms: tuple[NodeSelectorTerm, ...] | None = None
    tolerations: tuple[Toleration, ...] = ()
    scheduler_name: str = "default-scheduler"
    priority: int = 0
    may_preempt: bool = True
    scheduling_gates: tuple[str, ...] = ()
    volumes: tuple[Volume, ...] = ()
    required_features: tuple[str, ...] = ()
    neighbours: Neighbours = ALONE
    device_claims: tuple[PodClaim, ...] = ()
    fields: tuple[str, ...] = ()


class Owner(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The controller of a pod, from its owner reference with `controller: true`."""

    kind: str
    name: str
    uid: str


class ContainerResize(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the kubelet reports of one container's resources; None where it reports nothing."""

    name: str
    allocated: Resources | None = None
    actuated: Resources | None = None


class Resize(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """In-place resize as far as the pod's status tells (KEP-1287, pod level: KEP-5419)."""

    containers: tuple[ContainerResize, ...] = ()
    allocated: Resources | None = None
    actuated: Resources | None = None
    is_infeasible: bool = False


class GangLink(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How a pod names a gang: the group of the API, the name there, and its task in it, if any.

    Pods with another `replica` are another gang of the same name. `minimum` is how many pods the pod
    itself says must start together, as it is written; empty if it does not say.
    """

    api: str
    name: str
    task: str = ""
    replica: str = ""
    minimum: str = ""


class Pod(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One pod. `node_name` is empty while it waits for a node; `preferences` count if they were read.

    `started` is a time in UTC to the second, as the API server writes it, so that texts compare as
    times; empty while no kubelet has the pod. `is_preempted` says that it is being deleted to make
    room for another. `made_claims` are the claims of devices that were made for it, by its own names
    for them; an empty one was found not to be needed. `gang_links` name the
    gang that it belongs to; the first that is known counts.
    """

    namespace: str
    name: str
    uid: str
    spec: PodSpec
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    owner: Owner | None = None
    node_name: str = ""
    nominated_node: str = ""
    phase: str = "Pending"
    created: str = ""
    started: str = ""
    scheduled_reason: str = ""
    scheduled_message: str = ""
    is_terminating: bool = False
    is_preempted: bool = False
    is_init_done: bool = False
    resize: Resize | None = None
    made_claims: tuple[tuple[str, str], ...] = ()
    gang_links: tuple[GangLink, ...] = ()
    preferences: Preferences = INDIFFERENT

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_finished(self) -> bool:
        """Return whether the pod has ended and holds nothing any more."""
        return self.phase in {"Succeeded", "Failed"}

    @property
    def is_daemon(self) -> bool:
        """Return whether a DaemonSet owns the pod (or it is marked as if one did)."""
        marked = self.annotations.get("cluster-autoscaler.kubernetes.io/daemonset-pod") == "true"
        return marked or (self.owner is not None and self.owner.kind == "DaemonSet")

    @property
    def is_mirror(self) -> bool:
        """Return whether the pod mirrors a static pod of its kubelet."""
        return MIRROR_ANNOTATION in self.annotations
