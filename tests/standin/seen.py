"""What a kubelet and a device plugin read of pods and nodes, and nothing more."""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.edge.cluster import NODES, PODS, Kind
from springtide.wire.k8s.parts import decoded

ENDED: Final = frozenset({"Succeeded", "Failed"})


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    uid: str = ""
    namespace: str = ""
    resource_version: str = ""
    annotations: Mapping[str, str] = {}
    deletion_timestamp: str | None = None


class _Resources(msgspec.Struct, frozen=True):
    limits: Mapping[str, str] = {}


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """A container: what it may use at most, by resource."""

    name: str
    image: str = ""
    resources: _Resources = _Resources()

    def count(self, resource: str) -> int:
        """How many devices of this name it asks for."""
        return int(self.resources.limits.get(resource, "0"))


class _PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    node_name: str = ""
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()


class _PodStatus(msgspec.Struct, frozen=True):
    phase: str = "Pending"


class Pod(msgspec.Struct, frozen=True):
    """A pod."""

    metadata: _Metadata
    spec: _PodSpec = _PodSpec()
    status: _PodStatus = _PodStatus()

    @property
    def key(self) -> str:
        """Its namespace and name."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def is_going(self) -> bool:
        """Whether somebody has deleted it."""
        return self.metadata.deletion_timestamp is not None

    @property
    def has_ended(self) -> bool:
        """Whether its containers run no more."""
        return self.status.phase in ENDED

    @property
    def all_containers(self) -> tuple[Container, ...]:
        """Its containers in the order in which annotations list them."""
        return self.spec.init_containers + self.spec.containers


class _Condition(msgspec.Struct, frozen=True):
    type: str
    status: str = ""


class _NodeStatus(msgspec.Struct, frozen=True):
    conditions: tuple[_Condition, ...] = ()


class Node(msgspec.Struct, frozen=True):
    """A node."""

    metadata: _Metadata
    status: _NodeStatus = _NodeStatus()

    @property
    def is_ready(self) -> bool:
        """Whether the cluster takes it for ready."""
        return any(
            each.type == "Ready" and each.status == "True" for each in self.status.conditions
        )


_POD: Final = msgspec.json.Decoder(Pod)
_NODE: Final = msgspec.json.Decoder(Node)


def _pod(data: msgspec.Raw) -> Pod:
    return decoded(data, _POD)


def _node(data: msgspec.Raw) -> Node:
    return decoded(data, _NODE)


POD: Final = Kind(PODS, _pod)
NODE: Final = Kind(NODES, _node)
