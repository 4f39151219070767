"""Storage objects as model records, gathered into one `Storage`.

Only claims and capacities have a namespace. What binding is about is kept as it stands: an
annotation says that it is complete, and an older one still names classes.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, assert_never

from springtide.base import quantity
from springtide.base.quantity import Quantity
from springtide.base.selectors import LabelSelector, NodeSelectorTerm, label_selector
from springtide.model.storage import (
    Attachment,
    Claim,
    ClaimReference,
    CsiDriver,
    CsiNode,
    PersistentVolume,
    Storage,
    StorageCapacity,
    StorageClass,
)
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import schema, storage_schema
from springtide.wire.k8s.parts import resources
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE, to_owner

STORAGE: Final = "storage"
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"

RecordT = TypeVar("RecordT")


class StorageReading:
    """The storage objects read so far."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._classes: dict[str, StorageClass] = {}
        self._csi_nodes: dict[str, CsiNode] = {}
        self._drivers: dict[str, CsiDriver] = {}
        self._capacities: dict[str, StorageCapacity] = {}
        self._attachments: dict[str, Attachment] = {}

    def keep(self, read: storage_schema.StorageObject) -> bool:
        """Keep an object, and return whether it is the first of its name; or MalformedObject."""
        metadata = read.metadata
        if not metadata.name:
            raise MalformedObject("metadata.name", "the object has no name; give it one.")
        namespaced = f"{metadata.namespace or DEFAULT_NAMESPACE}/{metadata.name}"
        match read:
            case storage_schema.PersistentVolumeClaim():
                is_first = _kept(self._claims, namespaced, lambda: to_claim(read))
            case storage_schema.PersistentVolume():
                is_first = _kept(self._volumes, metadata.name, lambda: to_volume(read))
            case storage_schema.StorageClass():
                is_first = _kept(self._classes, metadata.name, lambda: to_class(read))
            case storage_schema.CSINode():
                is_first = _kept(self._csi_nodes, metadata.name, lambda: to_csi_node(read))
            case storage_schema.CSIDriver():
                is_first = _kept(self._drivers, metadata.name, lambda: to_driver(read))
            case storage_schema.CSIStorageCapacity():
                is_first = _kept(self._capacities, namespaced, lambda: to_capacity(read))
            case storage_schema.VolumeAttachment():
                is_first = _kept(self._attachments, metadata.name, lambda: to_attachment(read))
            case _:
                assert_never(read)
        return is_first

    def storage(self) -> Storage:
        """Return all that was read."""
        attached: dict[str, tuple[str, ...]] = {}
        for each in self._attachments.values():
            if each.volume:
                attached[each.node] = (*attached.get(each.node, ()), each.volume)
        return Storage(
            claims=self._claims,
            volumes=self._volumes,
            classes=self._classes,
            csi_nodes=self._csi_nodes,
            drivers=self._drivers,
            capacities=tuple(self._capacities.values()),
            attached=attached,
        )


def _kept(kept: dict[str, RecordT], key: str, make: Callable[[], RecordT]) -> bool:
    if key in kept:
        return False
    kept[key] = make()
    return True


def to_claim(read: storage_schema.PersistentVolumeClaim) -> Claim:
    """Return the record of a claim, or raise MalformedObject."""
    metadata, spec, notes = read.metadata, read.spec, read.metadata.annotations
    return Claim(
        namespace=metadata.namespace or DEFAULT_NAMESPACE,
        name=metadata.name,
        uid=metadata.uid,
        class_name=_class_name(notes, spec.storage_class_name),
        volume=spec.volume_name,
        is_bound=bool(spec.volume_name) and BIND_COMPLETED in notes,
        selected_node=notes.get(SELECTED_NODE),
        access_modes=spec.access_modes,
        mode=spec.volume_mode,
        requested=_storage(spec.resources.requests, "spec.resources.requests"),
        selector=_selector(spec.selector),
        attributes_class=spec.volume_attributes_class_name or "",
        phase=read.status.phase,
        is_terminating=bool(metadata.deletion_timestamp),
        owner=to_owner(metadata),
    )


def to_volume(read: storage_schema.PersistentVolume) -> PersistentVolume:
    """Return the record of a volume, or raise MalformedObject."""
    metadata, spec = read.metadata, read.spec
    csi = spec.csi or storage_schema.CsiSource()
    return PersistentVolume(
        name=metadata.name,
        labels=metadata.labels,
        class_name=_class_name(metadata.annotations, spec.storage_class_name),
        capacity=_storage(spec.capacity, "spec.capacity"),
        access_modes=spec.access_modes,
        mode=spec.volume_mode,
        attributes_class=spec.volume_attributes_class_name or "",
        phase=read.status.phase,
        is_terminating=bool(metadata.deletion_timestamp),
        claim=_reference(spec.claim_ref),
        node_terms=_terms(spec.node_affinity),
        driver=csi.driver,
        handle=csi.volume_handle,
    )


def to_class(read: storage_schema.StorageClass) -> StorageClass:
    """Return the record of a storage class."""
    return StorageClass(
        name=read.metadata.name,
        provisioner=read.provisioner,
        binding_mode=read.volume_binding_mode,
        topologies=tuple(
            tuple((each.key, each.values) for each in term.match_label_expressions)
            for term in read.allowed_topologies
        ),
    )


def to_csi_node(read: storage_schema.CSINode) -> CsiNode:
    """Return the record of a node's drivers."""
    return CsiNode(
        read.metadata.name,
        tuple(
            (each.name, each.allocatable.count if each.allocatable else None)
            for each in read.spec.drivers or ()
        ),
    )


def to_driver(read: storage_schema.CSIDriver) -> CsiDriver:
    """Return the record of a driver."""
    return CsiDriver(
        name=read.metadata.name,
        reports_capacity=bool(read.spec.storage_capacity),
        must_be_installed=bool(read.spec.prevent_pod_scheduling_if_missing),
    )


def to_capacity(read: storage_schema.CSIStorageCapacity) -> StorageCapacity:
    """Return the record of a capacity, or raise MalformedObject."""
    return StorageCapacity(
        namespace=read.metadata.namespace or DEFAULT_NAMESPACE,
        name=read.metadata.name,
        class_name=read.storage_class_name,
        capacity=_amount(read.capacity, "capacity"),
        volume_max=_amount(read.maximum_volume_size, "maximumVolumeSize"),
        nodes=_selector(read.node_topology),
    )


def to_attachment(read: storage_schema.VolumeAttachment) -> Attachment:
    """Return the record of an attachment."""
    volume = read.spec.source.persistent_volume_name or ""
    return Attachment(read.metadata.name, read.spec.node_name, volume)


def _class_name(annotations: Mapping[str, str], name: str | None) -> str:
    return annotations.get(CLASS_ANNOTATION, name or "")


def _storage(read: schema.Quantities | None, path: str) -> Quantity | None:
    if read is None or STORAGE not in read:
        return None
    return dict(resources({STORAGE: read[STORAGE]}, path))[STORAGE]


def _amount(read: str | float | None, path: str) -> Quantity | None:
    if read is None:
        return None
    try:
        return quantity.from_json(read)
    except quantity.MalformedQuantity as fault:
        reason = f'"{fault.text}" is not a quantity; write one like 500m or 16Gi.'
        raise MalformedObject(path, reason) from fault


def _selector(read: storage_schema.LabelSelector | None) -> LabelSelector | None:
    return None if read is None else label_selector(read.match_labels or {}, read.match_expressions)


def _reference(read: storage_schema.ClaimReference | None) -> ClaimReference | None:
    if read is None:
        return None
    return ClaimReference(namespace=read.namespace, name=read.name, uid=read.uid)


def _terms(read: storage_schema.VolumeNodeAffinity | None) -> tuple[NodeSelectorTerm, ...] | None:
    if read is None or read.required is None:
        return None
    return tuple(
        NodeSelectorTerm(expressions=term.match_expressions, fields=term.match_fields)
        for term in read.required.node_selector_terms
    )
