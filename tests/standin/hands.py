"""What a kubelet does in a cluster that no other process of the product does: make nodes, write statuses."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from springtide.edge.cluster import NODES, Target
from springtide.edge.kube.refusals import object_fault
from springtide.edge.kube.transport import MERGE_PATCH, Request, Transport

Body = Mapping[str, Any]

_GOOD: Final = range(200, 300)


class Hands(Protocol):
    """A kubelet's rights. Every method raises a ClusterFault, as those of the `Cluster` port do."""

    async def create_node(self, node: Body) -> None:
        """Create a node; AlreadyThere if there is one of this name."""
        ...

    async def write_status(self, target: Target, status: Body) -> None:
        """Merge fields into the status of an object; lists are replaced."""
        ...


class KubeHands:
    """They, on an API server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create_node(self, node: Body) -> None:
        """Create a node."""
        path = NODES.path(NODES.versions[0])
        request = Request(method="POST", path=path, body=node)
        await self._send(request, f"Node {node['metadata']['name']}")

    async def write_status(self, target: Target, status: Body) -> None:
        """Merge fields into the status of an object."""
        resource = target.resource
        path = resource.path(resource.versions[0], target.namespace)
        metadata = {"metadata": {"uid": target.uid}} if target.uid else {}
        request = Request(
            method="PATCH",
            path=f"{path}/{target.name}/status",
            body={**metadata, "status": status},
            content_type=MERGE_PATCH,
        )
        await self._send(request, str(target))

    async def _send(self, request: Request, what: str) -> None:
        answer = await self._transport.send(request)
        if answer.status not in _GOOD:
            raise object_fault(answer, what)
