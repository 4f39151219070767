"""The fields of storage objects that we read, in the shape in which the API writes them."""

from typing import TypeAlias

from springtide.base.selectors import LabelSelectorRequirement
from springtide.wire.k8s.schema import Metadata, Quantities, Read, RequiredNodeAffinity


class LabelSelector(Read, frozen=True):
    """A label selector."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class ClaimRequests(Read, frozen=True):
    """How much a claim asks for."""

    requests: Quantities | None = None


class ClaimSpec(Read, frozen=True):
    """What a claim wants."""

    access_modes: tuple[str, ...] = ()
    resources: ClaimRequests = ClaimRequests()
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str = ""
    volume_name: str = ""


class Phase(Read, frozen=True):
    """How far an object is."""

    phase: str = ""


class PersistentVolumeClaim(Read, frozen=True, tag="PersistentVolumeClaim", tag_field="kind"):
    """A claim."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: ClaimSpec = ClaimSpec()
    status: Phase = Phase()


class ClaimReference(Read, frozen=True):
    """The claim that a volume is reserved for."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(Read, frozen=True):
    """From which nodes a volume can be reached."""

    required: RequiredNodeAffinity | None = None


class CsiSource(Read, frozen=True):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""


class VolumeSpec(Read, frozen=True):
    """What a volume is."""

    capacity: Quantities | None = None
    access_modes: tuple[str, ...] = ()
    claim_ref: ClaimReference | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str = ""
    node_affinity: VolumeNodeAffinity | None = None
    csi: CsiSource | None = None


class PersistentVolume(Read, frozen=True, tag="PersistentVolume", tag_field="kind"):
    """A volume."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: VolumeSpec = VolumeSpec()
    status: Phase = Phase()


class TopologyExpression(Read, frozen=True):
    """Values of one label."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologyTerm(Read, frozen=True):
    """Expressions that a node must all meet."""

    match_label_expressions: tuple[TopologyExpression, ...] = ()


class StorageClass(Read, frozen=True, tag="StorageClass", tag_field="kind"):
    """A class of storage."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologyTerm, ...] = ()


class VolumeLimit(Read, frozen=True):
    """How many volumes of a driver a node can attach."""

    count: int | None = None


class NodeDriver(Read, frozen=True):
    """A driver that is installed on a node."""

    name: str = ""
    allocatable: VolumeLimit | None = None


class CSINodeSpec(Read, frozen=True):
    """The drivers of a node."""

    drivers: tuple[NodeDriver, ...] | None = None


class CSINode(Read, frozen=True, tag="CSINode", tag_field="kind"):
    """The drivers of the node of the same name."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Read, frozen=True):
    """How a driver behaves."""

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(Read, frozen=True, tag="CSIDriver", tag_field="kind"):
    """A driver."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(Read, frozen=True, tag="CSIStorageCapacity", tag_field="kind"):
    """What a driver can still provide."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    storage_class_name: str = ""
    capacity: str | int | float | None = None
    maximum_volume_size: str | int | float | None = None
    node_topology: LabelSelector | None = None


class AttachmentSource(Read, frozen=True):
    """What is attached."""

    persistent_volume_name: str | None = None


class AttachmentSpec(Read, frozen=True):
    """What is attached where."""

    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class VolumeAttachment(Read, frozen=True, tag="VolumeAttachment", tag_field="kind"):
    """A volume that is attached to a node."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: AttachmentSpec = AttachmentSpec()


StorageObject: TypeAlias = (
    PersistentVolumeClaim
    | PersistentVolume
    | StorageClass
    | CSINode
    | CSIDriver
    | CSIStorageCapacity
    | VolumeAttachment
)
