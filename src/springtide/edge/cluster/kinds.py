"""What is followed and read in a cluster: kinds of objects, and what becomes of their bytes."""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

import msgspec

from springtide.wire.k8s.config_maps import decode_config_map
from springtide.wire.k8s.leases import decode_lease
from springtide.wire.k8s.resources import OURS, RESOURCES, Resource

T = TypeVar("T")

Decode = Callable[[msgspec.Raw], T]
"""Makes a record of one object, or raises MalformedObject or an error of msgspec.

It keeps what it needs and nothing of the bytes: what it returns is what a process holds for each object.
"""


class Kind(msgspec.Struct, Generic[T], frozen=True):
    """A kind of object as the caller wants to see it."""

    resource: Resource
    decode: Decode[T]


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects of a kind: of one namespace or all, and those that selectors choose."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""


EVERYWHERE: Final = Scope()


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One object that something is to be done to.

    With `uid` nothing is done to another object of the same name, with `version` nothing to one that
    has changed since: both end in Conflict.
    """

    resource: Resource
    name: str
    namespace: str = ""
    uid: str = ""
    version: str = ""

    def __str__(self) -> str:
        key = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.resource.kind} {key}"


def raw(data: msgspec.Raw) -> bytes:
    """Return the object as the server wrote it."""
    return bytes(data)


def _listed(kind: str, group: str = "") -> Resource:
    return next(each for each in RESOURCES if (each.kind, each.group) == (kind, group))


NODES: Final = _listed("Node")
PODS: Final = _listed("Pod")
PROFILES: Final = _listed("DeviceProfile", OURS)
QUOTAS: Final = _listed("ResourceQuota")
LEASES: Final = Resource(kind="Lease", plural="leases", group="coordination.k8s.io")
EVENTS: Final = Resource(kind="Event", plural="events")
CONFIG_MAPS: Final = Resource(kind="ConfigMap", plural="configmaps")
DEPLOYMENTS: Final = Resource(kind="Deployment", plural="deployments", group="apps")
STATEFUL_SETS: Final = _listed("StatefulSet", "apps")

LEASE: Final = Kind(LEASES, decode_lease)
CONFIG_MAP: Final = Kind(CONFIG_MAPS, decode_config_map)


def node(name: str, *, uid: str = "", version: str = "") -> Target:
    """Return a node to do something to."""
    return Target(resource=NODES, name=name, uid=uid, version=version)


def pod(namespace: str, name: str, *, uid: str = "", version: str = "") -> Target:
    """Return a pod to do something to."""
    return Target(resource=PODS, namespace=namespace, name=name, uid=uid, version=version)
