"""Pod objects as model pods.

A stored pod is read as it stands. A manifest, a pod without uid and status, has never met an API
server: it is read as admission would leave it.
"""

from typing import Final

from springtide.model.pod import Owner, Pod
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import schema
from springtide.wire.k8s.between import merged
from springtide.wire.k8s.gang_links import gang_links
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.preferences import to_preferences
from springtide.wire.k8s.resize import to_resize
from springtide.wire.k8s.specs import to_spec

DEFAULT_NAMESPACE: Final = "default"
SCHEDULED: Final = "PodScheduled"
DISRUPTED: Final = "DisruptionTarget"
PREEMPTED: Final = "PreemptionByScheduler"

_NO_STATUS: Final = schema.PodStatus()
_NO_CONDITION: Final = schema.Condition()


def is_manifest(read: schema.Pod) -> bool:
    """Return whether no API server has stored this pod."""
    return not read.metadata.uid and (read.status is None or read.status == _NO_STATUS)


def to_pod(read: schema.Pod, parts: Parts, *, is_manifest: bool = False) -> Pod:
    """Return the model record of a pod, or raise MalformedObject."""
    metadata, status = read.metadata, read.status or _NO_STATUS
    if not metadata.name:
        raise MalformedObject("metadata.name", "the pod has no name; give it one.")
    namespace = metadata.namespace or DEFAULT_NAMESPACE
    spec = to_spec(read.spec, parts, is_manifest=is_manifest)
    if is_manifest:
        spec = merged(spec, metadata.labels)
    unscheduled = _unscheduled(status.conditions)
    owner = to_owner(metadata)
    return Pod(
        namespace=namespace,
        name=metadata.name,
        uid=metadata.uid or f"{namespace}/{metadata.name}",
        spec=spec,
        labels=metadata.labels,
        annotations=metadata.annotations,
        owner=owner,
        node_name=read.spec.node_name,
        nominated_node=status.nominated_node_name,
        phase=status.phase or "Pending",
        created=metadata.creation_timestamp or "",
        started=status.start_time or "",
        scheduled_reason=unscheduled.reason,
        scheduled_message=unscheduled.message,
        is_terminating=bool(metadata.deletion_timestamp),
        is_preempted=bool(metadata.deletion_timestamp) and _is_preempted(status.conditions),
        is_init_done=_is_init_done(status.init_container_statuses),
        resize=to_resize(status, spec, parts),
        made_claims=tuple(
            (each.name, each.resource_claim_name or "") for each in status.resource_claim_statuses
        ),
        gang_links=gang_links(metadata, read.spec, owner),
        preferences=to_preferences(
            read.spec, parts, labels=metadata.labels if is_manifest else None
        ),
    )


def to_owner(metadata: schema.Metadata) -> Owner | None:
    """Return the controller of an object, None if it has none."""
    for each in metadata.owner_references:
        if each.controller:
            return Owner(kind=each.kind, name=each.name, uid=each.uid)
    return None


def _unscheduled(conditions: tuple[schema.Condition, ...]) -> schema.Condition:
    for each in conditions:
        if each.type == SCHEDULED and each.status == "False":
            return each
    return _NO_CONDITION


def _is_preempted(conditions: tuple[schema.Condition, ...]) -> bool:
    return any(
        (each.type, each.status, each.reason) == (DISRUPTED, "True", PREEMPTED)
        for each in conditions
    )


def _is_init_done(statuses: tuple[schema.ContainerStatus, ...]) -> bool:
    return bool(statuses) and all(
        each.state.terminated is not None and each.state.terminated.exit_code == 0
        for each in statuses
    )
