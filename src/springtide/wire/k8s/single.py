"""Single objects, as an extender request or a watch event carries them."""

from typing import Final

import msgspec

from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.wire.k8s import schema
from springtide.wire.k8s.nodes import to_node
from springtide.wire.k8s.parts import Parts, decoded
from springtide.wire.k8s.pods import to_pod

_NODE: Final = msgspec.json.Decoder(schema.Node)
_POD: Final = msgspec.json.Decoder(schema.Pod)


def decode_node(data: bytes | msgspec.Raw, parts: Parts) -> Node:
    """Read a Node object, with or without its kind, or raise MalformedObject."""
    return to_node(decoded(data, _NODE), parts)


def decode_pod(data: bytes | msgspec.Raw, parts: Parts) -> Pod:
    """Read a Pod object as it stands, with or without its kind, or raise MalformedObject."""
    return to_pod(decoded(data, _POD), parts)
