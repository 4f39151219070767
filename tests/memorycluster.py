"""The `Cluster` port over an object store, without bytes on the way: what tests of processes run on."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Generic, Never, TypeVar

import msgspec
from msgspec.structs import replace

from springtide.base.errors import SpringtideError
from springtide.base.taints import Taint
from springtide.edge.cluster import (
    EVERYWHERE,
    LEASES,
    NODES,
    Added,
    AlreadyThere,
    BudgetSpent,
    ClusterFault,
    Conflict,
    Deleted,
    Deliver,
    Invalid,
    Kind,
    Metadata,
    NotFound,
    Scope,
    Skipped,
    Synced,
    Target,
    Updated,
)
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
from tests.objectstore import Entry, Object, ObjectStore, Place, Refused, matches

T = TypeVar("T")

EVENTS: Final = ("", "events")
LEASE_PLACE: Final = ("coordination.k8s.io", "leases")
CONFIG_MAP_PLACE: Final = ("", "configmaps")


class MemoryCluster:
    """A cluster in memory; whatever is done to the store is told to those who follow."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store

    async def follow(
        self, kind: Kind[T], deliver: Deliver[T], *, scope: Scope = EVERYWHERE
    ) -> Never:
        """Tell what there is and then what changes, until cancelled."""
        follower = _Follower(kind, deliver, scope)
        changes: asyncio.Queue[Entry] = asyncio.Queue()
        self.store.heard.append(changes.put_nowait)
        try:
            version = self.store.version
            for each in self.store.listed(_place(kind.resource.group, kind.resource.plural)):
                await follower.see(each)
            await deliver(Synced(str(version)))
            while True:
                await follower.hear(await changes.get())
        finally:
            self.store.heard.remove(changes.put_nowait)

    async def read(self, kind: Kind[T], name: str, *, namespace: str = "") -> T:
        """Return one object as it is now."""
        target = Target(resource=kind.resource, name=name, namespace=namespace)
        with _translated(target):
            return kind.decode(_raw(self.store.read(_of(target), namespace, name)))

    async def patch(self, target: Target, change: Metadata) -> str:
        """Set annotations and labels of an object, and return its new version."""
        metadata = {
            "annotations": dict(change.annotations),
            "labels": dict(change.labels),
            **_identity(target),
        }
        with _translated(target):
            made = self.store.merge(
                _of(target), target.namespace, target.name, {"metadata": metadata}
            )
        return str(made["metadata"]["resourceVersion"])

    async def patch_status(self, target: Target, status: Mapping[str, Any]) -> str:
        """Merge fields into the status of an object, and return its new version."""
        patch = {"metadata": _identity(target), "status": dict(status)}
        with _translated(target):
            made = self.store.merge(_of(target), target.namespace, target.name, patch)
        return str(made["metadata"]["resourceVersion"])

    async def taint(self, node: Target, taint: Taint) -> None:
        """Put a taint on a node."""
        others = [
            each
            for each in self._taints(node)
            if (each["key"], each["effect"]) != (taint.key, taint.effect)
        ]
        said = {"key": taint.key, "value": taint.value, "effect": taint.effect}
        self._write_taints(node, [*others, said])

    async def untaint(self, node: Target, taint: Taint) -> None:
        """Take this very taint off a node."""
        self._write_taints(
            node,
            [
                each
                for each in self._taints(node)
                if (each["key"], each.get("value", ""), each["effect"])
                != (taint.key, taint.value, taint.effect)
            ],
        )

    def _taints(self, node: Target) -> list[Object]:
        with _translated(node):
            found = self.store.read(_of(node), "", node.name)
        taints: list[Object] = found.get("spec", {}).get("taints") or []
        return taints

    def _write_taints(self, node: Target, taints: list[Object]) -> None:
        if taints == self._taints(node):
            return
        patch = {"metadata": _identity(node), "spec": {"taints": taints or None}}
        with _translated(node):
            self.store.merge(_of(node), "", node.name, patch)

    async def bind(self, pod: Target, node: str) -> None:
        """Give a pod its node."""
        with _translated(pod):
            binding = {"metadata": _identity(pod), "target": {"name": node}}
            self.store.bind(pod.namespace, pod.name, binding)

    async def evict(self, pod: Target) -> None:
        """Ask for a pod to end."""
        with _translated(pod):
            self.store.evict(pod.namespace, pod.name, _identity(pod))

    async def create_node(self, node: Node) -> Target:
        """Create a node."""
        target = Target(resource=NODES, name=node.name)
        with _translated(target):
            made = self.store.create(_of(target), "", node_object(node))["metadata"]
        return replace(target, uid=made["uid"], version=made["resourceVersion"])

    async def delete(self, target: Target, *, grace_s: int | None = None) -> None:
        """Delete an object; it ends at once, whatever its grace."""
        del grace_s
        with _translated(target):
            self.store.delete(_of(target), target.namespace, target.name, _identity(target))

    async def record(self, occurrence: Occurrence) -> None:
        """Create an event."""
        with _translated(occurrence.name):
            self.store.create(EVENTS, occurrence.namespace, event_object(occurrence))

    async def recount(self, occurrence: Occurrence) -> None:
        """Say of an event how often it has happened by now."""
        with _translated(occurrence.name):
            changes = event_changes(occurrence)
            self.store.merge(EVENTS, occurrence.namespace, occurrence.name, changes)

    async def read_lease(self, namespace: str, name: str) -> Lease:
        """Return a lease."""
        return await self.read(Kind(LEASES, decode_lease), name, namespace=namespace)

    async def create_lease(self, lease: Lease) -> Lease:
        """Create a lease."""
        with _translated(lease.name):
            made = self.store.create(LEASE_PLACE, lease.namespace, lease_object(lease))
        return decode_lease(_raw(made))

    async def replace_lease(self, lease: Lease) -> Lease:
        """Write a lease."""
        with _translated(lease.name):
            made = self.store.replace(LEASE_PLACE, lease.namespace, lease_object(lease))
        return decode_lease(_raw(made))

    async def create_config_map(self, config: ConfigMap) -> ConfigMap:
        """Create a ConfigMap."""
        with _translated(config.name):
            made = self.store.create(CONFIG_MAP_PLACE, config.namespace, config_map_object(config))
        return decode_config_map(_raw(made))

    async def patch_data(self, target: Target, data: Mapping[str, str | None]) -> ConfigMap:
        """Set and remove texts of a ConfigMap."""
        patch = {"metadata": _identity(target), **data_patch(data)}
        with _translated(target):
            made = self.store.merge(_of(target), target.namespace, target.name, patch)
        return decode_config_map(_raw(made))

    async def read_scale(self, target: Target) -> Scale:
        """Return the scale of a workload, which is part of it here."""
        with _translated(target):
            found = self.store.read(_of(target), target.namespace, target.name)
        return decode_scale(_raw(found))


class _Follower(Generic[T]):
    """Turns changes of the store into what is told of one kind."""

    def __init__(self, kind: Kind[T], deliver: Deliver[T], scope: Scope) -> None:
        self._kind = kind
        self._deliver = deliver
        self._scope = scope
        self._told: dict[str, str] = {}

    async def hear(self, entry: Entry) -> None:
        """Tell of a change."""
        if entry.place != _place(self._kind.resource.group, self._kind.resource.plural):
            return
        if self._is_chosen(entry.after):
            assert entry.after is not None
            await self.see(entry.after)
        elif entry.before is not None:
            key = _key(entry.before)
            if key in self._told:
                await self._deliver(Deleted(key, self._told.pop(key)))

    async def see(self, each: Object) -> None:
        """Tell of an object as it is."""
        if not self._is_chosen(each):
            return
        key, uid, version = _key(each), each["metadata"]["uid"], each["metadata"]["resourceVersion"]
        try:
            record = self._kind.decode(_raw(each))
        except (SpringtideError, msgspec.MsgspecError) as fault:
            await self._deliver(Skipped(key=key, version=version, why=str(fault)))
            return
        change = Updated if key in self._told else Added
        self._told[key] = uid
        await self._deliver(change(key=key, uid=uid, version=version, record=record))

    def _is_chosen(self, each: Object | None) -> bool:
        scope = self._scope
        return (
            each is not None
            and scope.namespace in ("", each["metadata"].get("namespace"))
            and matches(scope.labels, scope.fields, each)
        )


_FAULTS: Final[Mapping[str, type[ClusterFault]]] = {
    "NotFound": NotFound,
    "AlreadyExists": AlreadyThere,
    "Conflict": Conflict,
    "TooManyRequests": BudgetSpent,
}


@contextmanager
def _translated(what: object) -> Iterator[None]:
    try:
        yield
    except Refused as refused:
        fault = Conflict if refused.field else _FAULTS.get(refused.reason, Invalid)
        raise fault(f"{what}: {refused.message}") from refused


def _raw(each: Object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(each))


def _key(each: Object) -> str:
    metadata = each["metadata"]
    namespace = metadata.get("namespace", "")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def _place(group: str, plural: str) -> Place:
    return group, plural


def _of(target: Target) -> Place:
    return _place(target.resource.group, target.resource.plural)


def _identity(target: Target) -> dict[str, str]:
    said = {"uid": target.uid, "resourceVersion": target.version}
    return {key: each for key, each in said.items() if each}
