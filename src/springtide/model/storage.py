"""Claims, volumes, classes and drivers, as far as the scheduler's volume rules read them.

`Storage` holds what the API says of them at one moment. What pods use of it is in the ledger.
"""

from collections.abc import Mapping

import msgspec

from springtide.base.quantity import Quantity
from springtide.base.selectors import LabelSelector, NodeSelectorTerm
from springtide.model.pod import Owner

READ_WRITE_ONCE_POD = "ReadWriteOncePod"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A PersistentVolumeClaim. `is_bound` says that binding is complete.

    `volume` is the volume's name, empty while there is none; `selected_node` is None unless a
    scheduler has chosen a node for the volume to be made on.
    """

    namespace: str
    name: str
    uid: str = ""
    class_name: str = ""
    volume: str = ""
    is_bound: bool = False
    selected_node: str | None = None
    access_modes: tuple[str, ...] = ()
    mode: str = ""
    requested: Quantity | None = None
    selector: LabelSelector | None = None
    attributes_class: str = ""
    phase: str = ""
    is_terminating: bool = False
    owner: Owner | None = None

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"


class ClaimReference(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The claim that a volume is reserved for; without a uid, any of that name."""

    namespace: str
    name: str
    uid: str = ""


class PersistentVolume(msgspec.Struct, frozen=True, kw_only=True):
    """A PersistentVolume. `node_terms` is None where it can be reached from everywhere.

    `driver` and `handle` are those of a CSI volume, else empty.
    """

    name: str
    labels: Mapping[str, str] = {}
    class_name: str = ""
    capacity: Quantity | None = None
    access_modes: tuple[str, ...] = ()
    mode: str = ""
    attributes_class: str = ""
    phase: str = ""
    is_terminating: bool = False
    claim: ClaimReference | None = None
    node_terms: tuple[NodeSelectorTerm, ...] | None = None
    driver: str = ""
    handle: str = ""


class StorageClass(msgspec.Struct, frozen=True, kw_only=True):
    """A StorageClass. `topologies` are alternatives: for each key, the values that are allowed."""

    name: str
    provisioner: str = ""
    binding_mode: str | None = None
    topologies: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...] = ()


class CsiNode(msgspec.Struct, frozen=True):
    """The drivers of one node, each with how many volumes it can attach (None: any number)."""

    name: str
    drivers: tuple[tuple[str, int | None], ...] = ()


class CsiDriver(msgspec.Struct, frozen=True, kw_only=True):
    """A CSIDriver: whether it reports capacities, and is missed where it is not installed."""

    name: str
    reports_capacity: bool = False
    must_be_installed: bool = False


class StorageCapacity(msgspec.Struct, frozen=True, kw_only=True):
    """A CSIStorageCapacity: what a class can provide to the nodes that `nodes` selects."""

    namespace: str = ""
    name: str
    class_name: str = ""
    capacity: Quantity | None = None
    volume_max: Quantity | None = None
    nodes: LabelSelector | None = None


class Attachment(msgspec.Struct, frozen=True):
    """A VolumeAttachment: a volume that is attached to a node, or being attached."""

    name: str
    node: str
    volume: str


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """All storage objects, by name; claims by `namespace/name`, attached volumes by node."""

    claims: Mapping[str, Claim] = {}
    volumes: Mapping[str, PersistentVolume] = {}
    classes: Mapping[str, StorageClass] = {}
    csi_nodes: Mapping[str, CsiNode] = {}
    drivers: Mapping[str, CsiDriver] = {}
    capacities: tuple[StorageCapacity, ...] = ()
    attached: Mapping[str, tuple[str, ...]] = {}
