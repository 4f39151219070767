"""The fields of nodes and namespaces."""

from msgspec import Raw

from springtide.base.taints import Taint
from springtide.wire.k8s.schema.shared import ABSENT, Metadata, Read


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


class Namespace(Read, frozen=True, tag="Namespace", tag_field="kind"):
    """A namespace, of which only the labels count."""

    api_version: str = ""
    metadata: Metadata = Metadata()
