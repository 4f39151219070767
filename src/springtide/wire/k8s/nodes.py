"""Node objects as model nodes."""

from collections.abc import Sequence

from springtide.model.node import Node
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import schema
from springtide.wire.k8s.parts import Parts


def to_node(read: schema.Node, parts: Parts) -> Node:
    """Return the model record of a node, or raise MalformedObject."""
    metadata, spec, status = read.metadata, read.spec, read.status
    if not metadata.name:
        raise MalformedObject("metadata.name", "the node has no name; give it one.")
    return Node(
        name=metadata.name,
        uid=metadata.uid,
        labels=metadata.labels,
        annotations=metadata.annotations,
        taints=spec.taints,
        is_unschedulable=spec.unschedulable,
        provider_id=spec.provider_id,
        capacity=parts.quantities(status.capacity, "status.capacity"),
        allocatable=parts.quantities(status.allocatable, "status.allocatable"),
        conditions={each.type: each.status for each in status.conditions},
        ready_since=_ready_since(status.conditions),
        created=metadata.creation_timestamp or "",
        declared_features=frozenset(status.declared_features),
        images=parts.images(status.images, "status.images"),
    )


def _ready_since(conditions: Sequence[schema.NodeCondition]) -> str:
    ready = (each for each in conditions if each.type == "Ready" and each.status == "True")
    return next((each.last_transition_time or "" for each in ready), "")
