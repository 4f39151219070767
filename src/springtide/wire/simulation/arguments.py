"""The body of a filter call about nodes that do not exist: `ExtenderArgs` with a pod and whole nodes.

Nodes are kept as they were sent, because those that fit go back byte for byte; of each only what says which
devices it has is read. Keys are read in any case, as Go does; callers that spell them as Go writes them
are read in one pass.
"""

from typing import Final

import msgspec

from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.wire.errors import DocumentFault, MalformedObject
from springtide.wire.extender import members as reading
from springtide.wire.extender.walking import Buffer
from springtide.wire.k8s import Parts, decode_pod

ABSENT: Final = msgspec.Raw()
HEAD_BYTES: Final = 4 << 10
"""Within the first so many bytes of a node its metadata is looked for alone."""
_NEXT: Final = b'},"spec":'


class MalformedCall(DocumentFault):
    """The call cannot be read; the message says what is wrong with it."""


class InvalidCall(DocumentFault):
    """The call is read, but asks for what cannot be answered."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One pod and the nodes that it is asked about, with the objects as they were sent."""

    pod: Pod
    nodes: tuple[Node, ...]
    objects: tuple[msgspec.Raw, ...]


class _List(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    items: tuple[msgspec.Raw, ...] | None = None
    metadata: msgspec.Raw = ABSENT
    kind: msgspec.Raw = ABSENT
    api_version: msgspec.Raw = ABSENT


class _Arguments(msgspec.Struct, frozen=True, rename="pascal", forbid_unknown_fields=True):
    pod: msgspec.Raw
    nodes: _List
    node_names: None = None


class _Metadata(msgspec.Struct, frozen=True, gc=False):
    name: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Node(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata = _Metadata()


_QUICK: Final = msgspec.json.Decoder(_Arguments)
_NODE: Final = msgspec.json.Decoder(_Node)


def read_call(data: Buffer, parts: Parts, *, nodes_max: int) -> Call:
    """Return what a call asks, or raise MalformedCall or InvalidCall."""
    pod, objects = _parted(data)
    if len(objects) > nodes_max:
        raise InvalidCall(f"Nodes has {len(objects)} nodes, at most {nodes_max} are taken at once")
    nodes = tuple(_node(each, place) for place, each in enumerate(objects))
    _tell_apart(nodes)
    return Call(pod=_pod(pod, parts), nodes=nodes, objects=objects)


def _metadata(raw: msgspec.Raw | bytes) -> _Metadata:
    """Return the metadata of a node, without reading the rest where that can be told apart.

    What follows metadata is most of a node. Whatever precedes it and closes to an object was whole.
    """
    view = memoryview(raw)
    if view.nbytes <= HEAD_BYTES:
        return _NODE.decode(raw).metadata
    head = bytes(view[:HEAD_BYTES])
    end = head.find(_NEXT)
    if end > 0:
        try:
            found = _NODE.decode(head[: end + 1] + b"}").metadata
        except reading.UNREADABLE:
            pass
        else:
            if found.name:
                return found
    return _NODE.decode(raw).metadata


def read_node(raw: msgspec.Raw | bytes, where: str) -> Node:
    """Return of a node what says which devices it has, or raise MalformedCall."""
    try:
        metadata = _metadata(raw)
    except reading.UNREADABLE as fault:
        raise MalformedCall(f"{where} cannot be read: {fault}") from fault
    if not metadata.name:
        raise InvalidCall(f"{where} has no name: give it one in metadata.name")
    return Node(
        name=metadata.name,
        labels=metadata.labels or {},
        annotations=metadata.annotations or {},
    )


def read_pod(raw: msgspec.Raw | bytes, where: str, parts: Parts) -> Pod:
    """Return a pod as it stands, or raise MalformedCall."""
    try:
        return decode_pod(raw, parts)
    except (MalformedObject, *reading.UNREADABLE) as fault:
        raise MalformedCall(f"{where} cannot be read: {fault}") from fault


def _parted(data: Buffer) -> tuple[msgspec.Raw, tuple[msgspec.Raw, ...]]:
    """Return the pod and the nodes."""
    try:
        found = _QUICK.decode(data)
    except reading.UNREADABLE:
        return _parted_as_go_does(data)
    return found.pod, found.nodes.items or ()


def _parted_as_go_does(data: Buffer) -> tuple[msgspec.Raw, tuple[msgspec.Raw, ...]]:
    first = reading.first(data, "the body", complain=MalformedCall)
    members = reading.members(first, "the body", complain=MalformedCall)
    if "pod" not in members:
        raise InvalidCall("Pod is missing: send the pod that is to be placed")
    if "nodenames" in members:
        raise InvalidCall(
            "NodeNames names nodes that exist; a simulation is sent whole nodes in Nodes, and those only"
        )
    if "nodes" not in members:
        raise InvalidCall("Nodes is missing: send the nodes that the pod may go to")
    listed = reading.members(members["nodes"], "Nodes", complain=MalformedCall)
    items = reading.value(listed, "items", tuple[msgspec.Raw, ...], complain=MalformedCall)
    return members["pod"], items or ()


def _node(raw: msgspec.Raw, place: int) -> Node:
    return read_node(raw, f"Nodes.items[{place}]")


def _pod(raw: msgspec.Raw, parts: Parts) -> Pod:
    if reading.is_null(raw):
        raise InvalidCall("Pod is missing: send the pod that is to be placed")
    return read_pod(raw, "Pod", parts)


def _tell_apart(nodes: tuple[Node, ...]) -> None:
    names = {node.name for node in nodes}
    if len(names) == len(nodes):
        return
    seen: set[str] = set()
    for node in nodes:
        if node.name in seen:
            raise InvalidCall(
                f"Nodes has two nodes with the name {node.name}; names must be unique"
            )
        seen.add(node.name)
