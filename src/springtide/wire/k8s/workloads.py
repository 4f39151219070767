"""Workload manifests as the pods that their controllers would make.

Whoever plans before `kubectl apply` has a Deployment, not its pods. A workload stands for its pods
only while the input has none of them; then it counts as all of its replicas. A replica set whose
deployment is there as well stands for nothing of its own.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from springtide.base.taints import NO_EXECUTE, NO_SCHEDULE, Toleration
from springtide.model.pod import Owner, Pod, PodSpec
from springtide.model.selecting import Reference
from springtide.model.workload import HASH_LABEL, DaemonSet
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import schema
from springtide.wire.k8s.between import merged
from springtide.wire.k8s.gang_links import gang_links
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE, to_owner
from springtide.wire.k8s.preferences import to_preferences
from springtide.wire.k8s.specs import to_spec

REPLICAS_MAX: Final = 100_000
TEMPLATE_PATH: Final = "spec.template.spec"
_NODE_CRITICAL: Final = "system-node-critical"
_NEVER_PREEMPTS: Final = "Never"

Replicated = schema.Deployment | schema.ReplicaSet | schema.StatefulSet | schema.Job

_NODE_TROUBLES: Final = (
    ("node.kubernetes.io/not-ready", NO_EXECUTE),
    ("node.kubernetes.io/unreachable", NO_EXECUTE),
    ("node.kubernetes.io/disk-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/memory-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/pid-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/unschedulable", NO_SCHEDULE),
)
_NO_NETWORK: Final = ("node.kubernetes.io/network-unavailable", NO_SCHEDULE)


def kind_of(read: msgspec.Struct) -> str:
    """Return the kind of a decoded object."""
    return type(read).__name__


def reference(read: schema.Object) -> Reference:
    """Return what an object is called within one cluster."""
    return kind_of(read), namespace_of(read.metadata), read.metadata.name


def namespace_of(metadata: schema.Metadata) -> str:
    """Return the namespace of a namespaced object."""
    return metadata.namespace or DEFAULT_NAMESPACE


class Owners:
    """Which workloads the given pods belong to, directly or through a replica set."""

    def __init__(self, pods: Iterable[Pod], workloads: Iterable[Replicated]) -> None:
        self._uids: set[str] = set()
        self._references: set[Reference] = set()
        for pod in pods:
            if pod.owner is not None:
                self._add(pod.owner, pod.namespace)
                self._add_deployment(pod, pod.owner)
        for workload in workloads:
            owner = to_owner(workload.metadata)
            if owner is not None and self.own(workload):
                self._add(owner, namespace_of(workload.metadata))

    def own(self, workload: Replicated) -> bool:
        """Return whether one of the pods belongs to this workload."""
        return workload.metadata.uid in self._uids or reference(workload) in self._references

    def _add(self, owner: Owner, namespace: str) -> None:
        if owner.uid:
            self._uids.add(owner.uid)
        self._references.add((owner.kind, namespace, owner.name))

    def _add_deployment(self, pod: Pod, owner: Owner) -> None:
        # A dump often lacks the replica sets; a deployment names them after itself and the hash.
        suffix = f"-{pod.labels.get(HASH_LABEL, '')}"
        if owner.kind == "ReplicaSet" and len(suffix) > 1 and owner.name.endswith(suffix):
            name = owner.name.removesuffix(suffix)
            self._references.add(("Deployment", pod.namespace, name))


def standing_alone(workloads: Iterable[Replicated]) -> list[Replicated]:
    """Return the workloads that no other one of them controls."""
    everyone = list(workloads)
    uids = {each.metadata.uid for each in everyone if each.metadata.uid}
    references = {reference(each) for each in everyone}
    return [each for each in everyone if not _is_controlled(each, uids, references)]


def _is_controlled(workload: Replicated, uids: set[str], references: set[Reference]) -> bool:
    owner = to_owner(workload.metadata)
    if owner is None:
        return False
    namespace = namespace_of(workload.metadata)
    return owner.uid in uids or (owner.kind, namespace, owner.name) in references


def to_pods(workload: Replicated, parts: Parts, *, taken: frozenset[str] | set[str]) -> list[Pod]:
    """Return the pods that the workload's controller would make, or raise MalformedObject.

    Names are `<workload>-<number>`, skipping the keys (`namespace/name`) that are `taken`.
    """
    kind, namespace, name = reference(workload)
    if not name:
        raise MalformedObject("metadata.name", f"the {kind} has no name; give it one.")
    count = _pod_count(workload)
    if count > REPLICAS_MAX:
        raise MalformedObject(
            "spec",
            f"{count} pods are more than the {REPLICAS_MAX} that can be planned; ask for less.",
        )
    spec = to_spec(_template_spec(workload), parts, path=TEMPLATE_PATH, is_manifest=True)
    metadata = workload.spec.template.metadata
    spec = merged(spec, metadata.labels)
    preferences = to_preferences(workload.spec.template.spec, parts, labels=metadata.labels)
    uid = workload.metadata.uid or f"{kind}/{namespace}/{name}"
    owner = Owner(kind=kind, name=name, uid=uid)
    links = gang_links(metadata, workload.spec.template.spec, owner)
    names = _free_names(namespace, name, count, taken)
    return [
        Pod(
            namespace=namespace,
            name=each,
            uid=f"{namespace}/{each}",
            spec=spec,
            labels=metadata.labels,
            annotations=metadata.annotations,
            owner=owner,
            gang_links=links,
            preferences=preferences,
        )
        for each in names
    ]


def to_daemon_set(read: schema.DaemonSet, parts: Parts) -> DaemonSet:
    """Return the model record of a daemon set, or raise MalformedObject."""
    if not read.metadata.name:
        raise MalformedObject("metadata.name", "the DaemonSet has no name; give it one.")
    template = read.spec.template
    namespace = namespace_of(read.metadata)
    spec = to_spec(template.spec, parts, path=TEMPLATE_PATH, is_manifest=True)
    return DaemonSet(
        namespace=namespace,
        name=read.metadata.name,
        uid=read.metadata.uid or f"DaemonSet/{namespace}/{read.metadata.name}",
        spec=_tolerating(
            merged(spec, template.metadata.labels), has_host_network=template.spec.host_network
        ),
        labels=template.metadata.labels,
        annotations=template.metadata.annotations,
        is_critical=template.spec.priority_class_name == _NODE_CRITICAL
        and template.spec.preemption_policy != _NEVER_PREEMPTS,
    )


def _pod_count(workload: Replicated) -> int:
    if workload.metadata.deletion_timestamp:
        return 0
    if isinstance(workload, schema.Job):
        return _job_pod_count(workload)
    return max(0, workload.spec.replicas)


def _job_pod_count(job: schema.Job) -> int:
    """Return how many pods the job would still start now, beside those that it says are active."""
    ended = any(
        each.type in {"Complete", "Failed"} and each.status == "True"
        for each in job.status.conditions
    )
    if ended or job.spec.suspend:
        return 0
    wanted = job.spec.parallelism
    if job.spec.completions is not None:
        wanted = min(wanted, job.spec.completions - job.status.succeeded)
    elif job.status.succeeded:
        # Without a number of completions the first success ends the work.
        wanted = 0
    return max(0, wanted - job.status.active)


def _template_spec(workload: Replicated) -> schema.PodSpec:
    spec = workload.spec.template.spec
    if not isinstance(workload, schema.StatefulSet) or not workload.spec.volume_claim_templates:
        return spec
    # The controller adds a volume for each claim template.
    claim = schema.Volume(persistent_volume_claim=schema.ClaimSource())
    return msgspec.structs.replace(spec, volumes=(*spec.volumes, claim))


def _free_names(
    namespace: str, name: str, count: int, taken: frozenset[str] | set[str]
) -> list[str]:
    names: list[str] = []
    number = 0
    while len(names) < count:
        if f"{namespace}/{name}-{number}" not in taken:
            names.append(f"{name}-{number}")
        number += 1
    return names


def _tolerating(spec: PodSpec, *, has_host_network: bool) -> PodSpec:
    troubles = (*_NODE_TROUBLES, _NO_NETWORK) if has_host_network else _NODE_TROUBLES
    added = (Toleration(key=key, operator="Exists", effect=effect) for key, effect in troubles)
    missing = tuple(each for each in added if each not in spec.tolerations)
    return msgspec.structs.replace(spec, tolerations=spec.tolerations + missing)
