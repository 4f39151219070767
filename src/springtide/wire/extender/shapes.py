"""The bodies of the protocol's calls as types: for documents of the API.

Nothing is read by them, because keys come in any case and nodes go back as they were sent; see `arguments`.
Of pods and nodes only what is always looked at is named: what else Kubernetes sends is passed over.
"""

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct

Name: TypeAlias = Annotated[str, Meta(min_length=1)]
Quantity: TypeAlias = Annotated[
    str | int | float, Meta(description="A quantity of Kubernetes, such as 500m or 2Gi.")
]


class ResourceAmounts(Struct, frozen=True):
    """What a container may have, and what is kept for it."""

    limits: dict[str, Quantity] | None = None
    requests: dict[str, Quantity] | None = None


class PodContainer(Struct, frozen=True):
    """A container; what it asks for of devices stands in its limits."""

    name: str = ""
    resources: ResourceAmounts | None = None


class PodSpec(Struct, frozen=True, rename="camel"):
    """What a pod asks for."""

    containers: list[PodContainer] = []
    init_containers: list[PodContainer] = []
    scheduler_name: str = ""
    node_name: str = ""


class ObjectMeta(Struct, frozen=True):
    """What every object has."""

    name: Name
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class Pod(Struct, frozen=True):
    """A pod as the API server has it; fields that are not named here are passed over."""

    metadata: ObjectMeta
    spec: PodSpec = PodSpec()


class NodeSent(Struct, frozen=True):
    """A node as the API server has it; it goes back as it was sent."""

    metadata: ObjectMeta
    spec: Annotated[dict[str, Any], Meta(description="Not looked at.")] = {}
    status: Annotated[dict[str, Any], Meta(description="Not looked at.")] = {}


class NodesSent(Struct, frozen=True):
    """Nodes as whole objects, as callers with `nodeCacheCapable: false` send them."""

    items: list[NodeSent] = []


class ExtenderArgs(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A pod and the nodes that are left for it: in Nodes or in NodeNames, never in both.

    Fields are spelled as Go names them, and read in any case.
    """

    pod: Pod
    nodes: NodesSent | None = None
    node_names: list[str] | None = None


class ExtenderBindingArgs(
    Struct,
    frozen=True,
    kw_only=True,
    rename={
        "pod_name": "PodName",
        "pod_namespace": "PodNamespace",
        "pod_uid": "PodUID",
        "node": "Node",
    },
):
    """Which pod is to be bound to which node.

    Fields are spelled as Go names them, and read in any case.
    """

    pod_name: Name
    pod_namespace: Name
    pod_uid: str = ""
    node: Name
