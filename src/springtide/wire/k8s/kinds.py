"""The kinds of API objects that are read, and what an object of each is called."""

from typing import Final, TypeAlias

import msgspec

from springtide.model.gang import GangApi
from springtide.wire.k8s import device_schema, schema, storage_schema
from springtide.wire.k8s.device_schema import DeviceObject
from springtide.wire.k8s.disruption import PodDisruptionBudget
from springtide.wire.k8s.namespace_quotas import ResourceQuota
from springtide.wire.k8s.pod_groups import PodGroup, Workload
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE
from springtide.wire.k8s.storage_schema import StorageObject
from springtide.wire.k8s.workloads import kind_of, namespace_of

Object: TypeAlias = (
    schema.Object
    | StorageObject
    | DeviceObject
    | PodDisruptionBudget
    | ResourceQuota
    | PodGroup
    | Workload
)

DECODERS: Final[dict[tuple[str, str], msgspec.json.Decoder[Object]]] = {
    ("", "Node"): msgspec.json.Decoder(schema.Node),
    ("", "Pod"): msgspec.json.Decoder(schema.Pod),
    ("", "Namespace"): msgspec.json.Decoder(schema.Namespace),
    ("", "ResourceQuota"): msgspec.json.Decoder(ResourceQuota),
    ("", "Service"): msgspec.json.Decoder(schema.Service),
    ("", "ReplicationController"): msgspec.json.Decoder(schema.ReplicationController),
    ("apps", "Deployment"): msgspec.json.Decoder(schema.Deployment),
    ("apps", "ReplicaSet"): msgspec.json.Decoder(schema.ReplicaSet),
    ("apps", "StatefulSet"): msgspec.json.Decoder(schema.StatefulSet),
    ("apps", "DaemonSet"): msgspec.json.Decoder(schema.DaemonSet),
    ("batch", "Job"): msgspec.json.Decoder(schema.Job),
    ("scheduling.k8s.io", "PriorityClass"): msgspec.json.Decoder(schema.PriorityClass),
    ("policy", "PodDisruptionBudget"): msgspec.json.Decoder(PodDisruptionBudget),
    ("node.k8s.io", "RuntimeClass"): msgspec.json.Decoder(schema.RuntimeClass),
    ("", "PersistentVolumeClaim"): msgspec.json.Decoder(storage_schema.PersistentVolumeClaim),
    ("", "PersistentVolume"): msgspec.json.Decoder(storage_schema.PersistentVolume),
    ("storage.k8s.io", "StorageClass"): msgspec.json.Decoder(storage_schema.StorageClass),
    ("storage.k8s.io", "CSINode"): msgspec.json.Decoder(storage_schema.CSINode),
    ("storage.k8s.io", "CSIDriver"): msgspec.json.Decoder(storage_schema.CSIDriver),
    ("storage.k8s.io", "CSIStorageCapacity"): msgspec.json.Decoder(
        storage_schema.CSIStorageCapacity
    ),
    ("storage.k8s.io", "VolumeAttachment"): msgspec.json.Decoder(storage_schema.VolumeAttachment),
    ("resource.k8s.io", "ResourceClaim"): msgspec.json.Decoder(device_schema.ResourceClaim),
    ("resource.k8s.io", "ResourceClaimTemplate"): msgspec.json.Decoder(
        device_schema.ResourceClaimTemplate
    ),
    ("resource.k8s.io", "DeviceClass"): msgspec.json.Decoder(device_schema.DeviceClass),
    ("resource.k8s.io", "ResourceSlice"): msgspec.json.Decoder(device_schema.ResourceSlice),
    ("resource.k8s.io", "DeviceTaintRule"): msgspec.json.Decoder(device_schema.DeviceTaintRule),
    (GangApi.WORKLOAD, "Workload"): msgspec.json.Decoder(Workload),
    (GangApi.WORKLOAD, "PodGroup"): msgspec.json.Decoder(PodGroup),
    (GangApi.COSCHEDULING, "PodGroup"): msgspec.json.Decoder(PodGroup),
    (GangApi.VOLCANO, "PodGroup"): msgspec.json.Decoder(PodGroup),
}
# The objects that belong to no namespace.
_CLUSTER_WIDE: Final = frozenset(
    {
        "Node",
        "Namespace",
        "PriorityClass",
        "RuntimeClass",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "VolumeAttachment",
        "DeviceClass",
        "ResourceSlice",
        "DeviceTaintRule",
    }
)


class ObjectList(schema.Read, frozen=True):
    """A list of objects that are all of the kinds we read."""

    items: tuple[Object, ...]
    kind: str = ""


LIST_DECODER: Final = msgspec.json.Decoder(ObjectList)


def reads(group: str, kind: str) -> bool:
    """Return whether objects of this group and kind are read here."""
    return (group, kind) in DECODERS


def kinds_read() -> frozenset[tuple[str, str]]:
    """Return the groups and kinds of all objects that are read here."""
    return frozenset(DECODERS)


def group_of(api_version: str) -> str:
    """Return the group of an `apiVersion`; the core group is empty."""
    return api_version.rpartition("/")[0]


def label(kind: str, value: object, at: str) -> str:
    """Return what to call an object that could not be decoded."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    names = metadata if isinstance(metadata, dict) else {}
    name, namespace = names.get("name"), names.get("namespace")
    if not isinstance(name, str) or not name:
        return f"{kind} at {at}" if at else kind
    if kind in _CLUSTER_WIDE:
        return f"{kind}/{name}"
    is_given = isinstance(namespace, str) and namespace
    return f"{kind}/{namespace if is_given else DEFAULT_NAMESPACE}/{name}"


def name_of(read: Object, at: str) -> str:
    """Return what to call an object; `at` says where it stands if it has no name."""
    metadata = read.metadata
    if not metadata.name:
        return f"{kind_of(read)} at {at}" if at else kind_of(read)
    if kind_of(read) in _CLUSTER_WIDE:
        return f"{kind_of(read)}/{metadata.name}"
    return f"{kind_of(read)}/{namespace_of(metadata)}/{metadata.name}"
