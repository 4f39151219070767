"""The `Cluster` port on a real API server."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Never, TypeVar

import msgspec
from msgspec.structs import replace

from springtide.base.taints import Taint
from springtide.edge.cluster.errors import Conflict, Malformed
from springtide.edge.cluster.kinds import (
    CONFIG_MAPS,
    EVENTS,
    EVERYWHERE,
    LEASES,
    NODES,
    Decode,
    Kind,
    Scope,
    Target,
)
from springtide.edge.cluster.port import Deliver, Metadata
from springtide.edge.kube.informer import Informer, Waiting
from springtide.edge.kube.known import Header
from springtide.edge.kube.refusals import object_fault
from springtide.edge.kube.tainting import TAINTED, Tainted, said
from springtide.edge.kube.transport import JSON, MERGE_PATCH, Request, Transport
from springtide.model.config_map import ConfigMap
from springtide.model.lease import Lease
from springtide.model.node import Node
from springtide.model.occurrence import Occurrence
from springtide.model.scale import Scale
from springtide.wire.k8s.config_maps import config_map_object, data_patch, decode_config_map
from springtide.wire.k8s.leases import decode_lease, lease_object
from springtide.wire.k8s.node_objects import node_object
from springtide.wire.k8s.occurrences import event_changes, event_object
from springtide.wire.k8s.scales import decode_scale

T = TypeVar("T")
Body = Mapping[str, Any]

_GOOD: Final = range(200, 300)


class _Written(msgspec.Struct, frozen=True):
    metadata: Header = Header()


_WRITTEN: Final = msgspec.json.Decoder(_Written)


class KubeCluster:
    """A cluster behind an API server. Close the connection under it, and it ends."""

    def __init__(self, transport: Transport, *, waiting: Waiting) -> None:
        self._transport = transport
        self._waiting = waiting

    async def follow(
        self, kind: Kind[T], deliver: Deliver[T], *, scope: Scope = EVERYWHERE
    ) -> Never:
        """Tell what there is and then what changes, until cancelled."""
        informer = Informer(self._transport, kind, deliver, scope=scope, waiting=self._waiting)
        await informer.run()

    async def read(self, kind: Kind[T], name: str, *, namespace: str = "") -> T:
        """Return one object as it is now."""
        target = Target(resource=kind.resource, name=name, namespace=namespace)
        body = await self._send("GET", _path(target), what=str(target))
        return _decoded(kind.decode, body, str(target))

    async def patch(self, target: Target, change: Metadata) -> str:
        """Set annotations and labels of an object, and return its new version."""
        said = {"annotations": dict(change.annotations), "labels": dict(change.labels)}
        body = {"metadata": {key: each for key, each in said.items() if each} | _identity(target)}
        answer = await self._send(
            "PATCH", _path(target), body, what=str(target), content_type=MERGE_PATCH
        )
        return _decoded(_WRITTEN.decode, answer, str(target)).metadata.resource_version

    async def patch_status(self, target: Target, status: Mapping[str, Any]) -> str:
        """Merge fields into the status of an object that has one apart, and return its new version."""
        body = {"metadata": _identity(target), "status": dict(status)}
        path = f"{_path(target)}/status"
        answer = await self._send("PATCH", path, body, what=str(target), content_type=MERGE_PATCH)
        return _decoded(_WRITTEN.decode, answer, str(target)).metadata.resource_version

    async def taint(self, node: Target, taint: Taint) -> None:
        """Put a taint on a node beside its others."""
        found = await self._tainted(node)
        await self._write_taints(node, found, [*found.without(taint, is_exact=False), said(taint)])

    async def untaint(self, node: Target, taint: Taint) -> None:
        """Take this very taint off a node."""
        found = await self._tainted(node)
        await self._write_taints(node, found, found.without(taint, is_exact=True))

    async def _tainted(self, node: Target) -> Tainted:
        body = await self._send("GET", _path(node), what=str(node))
        found = _decoded(TAINTED.decode, body, str(node))
        if node.uid not in ("", found.uid) or node.version not in ("", found.version):
            raise Conflict(f"{node} is not the one that was meant any more. Read it again.")
        return found

    async def _write_taints(self, node: Target, found: Tainted, taints: Sequence[Body]) -> None:
        if [*taints] == found.taints:
            return
        # A list is replaced as a whole, so this must be the only change since it was read.
        metadata = {"uid": found.uid, "resourceVersion": found.version}
        body = {"metadata": metadata, "spec": {"taints": [*taints] or None}}
        await self._send("PATCH", _path(node), body, what=str(node), content_type=MERGE_PATCH)

    async def bind(self, pod: Target, node: str) -> None:
        """Give a pod its node."""
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": _named(pod) | _identity(pod),
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        await self._send("POST", f"{_path(pod)}/binding", body, what=str(pod))

    async def evict(self, pod: Target) -> None:
        """Ask for a pod to end."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": _named(pod),
            "deleteOptions": {"preconditions": _identity(pod)},
        }
        await self._send("POST", f"{_path(pod)}/eviction", body, what=str(pod))

    async def create_node(self, node: Node) -> Target:
        """Create a node and return which one it is."""
        target = Target(resource=NODES, name=node.name)
        answer = await self._send("POST", _collection(target), node_object(node), what=str(target))
        made = _decoded(_WRITTEN.decode, answer, str(target)).metadata
        return replace(target, uid=made.uid, version=made.resource_version)

    async def delete(self, target: Target, *, grace_s: int | None = None) -> None:
        """Delete an object."""
        grace = {} if grace_s is None else {"gracePeriodSeconds": grace_s}
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": _identity(target),
            **grace,
        }
        await self._send("DELETE", _path(target), body, what=str(target))

    async def record(self, occurrence: Occurrence) -> None:
        """Create an event for people to read."""
        event = _event(occurrence)
        await self._send("POST", _collection(event), event_object(occurrence), what=str(event))

    async def recount(self, occurrence: Occurrence) -> None:
        """Say of an event that exists how often it has happened by now, and when last."""
        event, body = _event(occurrence), event_changes(occurrence)
        await self._send("PATCH", _path(event), body, what=str(event), content_type=MERGE_PATCH)

    async def read_lease(self, namespace: str, name: str) -> Lease:
        """Return a lease as it is now."""
        target = Target(resource=LEASES, namespace=namespace, name=name)
        answer = await self._send("GET", _path(target), what=str(target))
        return _decoded(decode_lease, answer, str(target))

    async def create_lease(self, lease: Lease) -> Lease:
        """Create a lease and return it with its version."""
        target, body = _lease(lease), lease_object(lease)
        answer = await self._send("POST", _collection(target), body, what=str(target))
        return _decoded(decode_lease, answer, str(target))

    async def replace_lease(self, lease: Lease) -> Lease:
        """Write the lease if its version still is the latest."""
        assert lease.version, "without a version, whatever is there would be overwritten"
        target, body = _lease(lease), lease_object(lease)
        answer = await self._send("PUT", _path(target), body, what=str(target))
        return _decoded(decode_lease, answer, str(target))

    async def create_config_map(self, config: ConfigMap) -> ConfigMap:
        """Create a ConfigMap and return it with its version."""
        target = Target(resource=CONFIG_MAPS, namespace=config.namespace, name=config.name)
        body = config_map_object(config)
        answer = await self._send("POST", _collection(target), body, what=str(target))
        return _decoded(decode_config_map, answer, str(target))

    async def patch_data(self, target: Target, data: Mapping[str, str | None]) -> ConfigMap:
        """Set and remove texts of a ConfigMap, and return it as it is then."""
        body = {"metadata": _identity(target), **data_patch(data)}
        answer = await self._send(
            "PATCH", _path(target), body, what=str(target), content_type=MERGE_PATCH
        )
        return _decoded(decode_config_map, answer, str(target))

    async def read_scale(self, target: Target) -> Scale:
        """Return how many pods a workload wants and has."""
        what = f"the scale of {target}"
        answer = await self._send("GET", f"{_path(target)}/scale", what=what)
        return _decoded(decode_scale, answer, what)

    async def _send(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        *,
        what: str,
        content_type: str = JSON,
    ) -> bytes:
        """Return the body of a good answer, or raise what the status means for the object."""
        request = Request(method=method, path=path, body=body, content_type=content_type)
        answer = await self._transport.send(request)
        if answer.status not in _GOOD:
            raise object_fault(answer, what)
        return answer.body


def _decoded(decode: Decode[T], body: bytes, what: str) -> T:
    try:
        return decode(msgspec.Raw(body))
    except msgspec.DecodeError as fault:
        raise Malformed(
            f"What came for {what} is no object of the API ({fault}). "
            "Check that the kubeconfig names an API server."
        ) from fault


def _collection(target: Target) -> str:
    resource = target.resource
    return resource.path(resource.versions[0], target.namespace)


def _path(target: Target) -> str:
    return f"{_collection(target)}/{target.name}"


def _identity(target: Target) -> dict[str, str]:
    said = {"uid": target.uid, "resourceVersion": target.version}
    return {key: each for key, each in said.items() if each}


def _named(target: Target) -> dict[str, str]:
    return {"name": target.name, "namespace": target.namespace}


def _event(occurrence: Occurrence) -> Target:
    return Target(resource=EVENTS, namespace=occurrence.namespace, name=occurrence.name)


def _lease(lease: Lease) -> Target:
    return Target(resource=LEASES, namespace=lease.namespace, name=lease.name)
