"""The port: what the processes may see and do in a cluster, whichever it is.

Every method raises a ClusterFault. A write is tried once: whoever asks knows whether it still makes
sense to try again, and it says by `uid` and `version` of its target to what it may be done.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Never, Protocol, TypeAlias, TypeVar

import msgspec

from springtide.base.taints import Taint
from springtide.edge.cluster.changes import Change
from springtide.edge.cluster.kinds import EVERYWHERE, Kind, Scope, Target
from springtide.model.config_map import ConfigMap
from springtide.model.lease import Lease
from springtide.model.node import Node
from springtide.model.occurrence import Occurrence
from springtide.model.scale import Scale

T = TypeVar("T")

Deliver: TypeAlias = Callable[[Change[T]], Awaitable[None]]
"""Takes one change; as long as it waits, nothing more is read from the server."""


class Metadata(msgspec.Struct, frozen=True):
    """Annotations and labels to set; None removes one, and those not named stay."""

    annotations: Mapping[str, str | None] = {}
    labels: Mapping[str, str | None] = {}


NO_GRACE: Final = 0


class Cluster(Protocol):
    """A cluster."""

    async def follow(
        self, kind: Kind[T], deliver: Deliver[T], *, scope: Scope = EVERYWHERE
    ) -> Never:
        """Tell what there is and then what changes, until cancelled; faults are told, not raised."""
        ...

    async def read(self, kind: Kind[T], name: str, *, namespace: str = "") -> T:
        """Return one object as it is now, or raise MalformedObject where it cannot be decoded."""
        ...

    async def patch(self, target: Target, change: Metadata) -> str:
        """Set annotations and labels of an object, and return its new version."""
        ...

    async def patch_status(self, target: Target, status: Mapping[str, Any]) -> str:
        """Merge fields into the status of an object that has one apart, and return its new version."""
        ...

    async def taint(self, node: Target, taint: Taint) -> None:
        """Put a taint on a node beside its others, in the place of one with the same key and effect."""
        ...

    async def untaint(self, node: Target, taint: Taint) -> None:
        """Take this very taint off a node; nothing is done where it is not there.

        Both raise Conflict if the node changes meanwhile.
        """
        ...

    async def bind(self, pod: Target, node: str) -> None:
        """Give a pod its node; Conflict if it has one."""
        ...

    async def evict(self, pod: Target) -> None:
        """Ask for a pod to end, unless a disruption budget forbids it: BudgetSpent."""
        ...

    async def create_node(self, node: Node) -> Target:
        """Create a node and return which one it is; AlreadyThere if its name is taken."""
        ...

    async def delete(self, target: Target, *, grace_s: int | None = None) -> None:
        """Delete an object; `grace_s` is the object's own where it is None."""
        ...

    async def record(self, occurrence: Occurrence) -> None:
        """Create an event for people to read; AlreadyThere if its name is taken."""
        ...

    async def recount(self, occurrence: Occurrence) -> None:
        """Say of an event that exists how often it has happened by now, and when last."""
        ...

    async def read_lease(self, namespace: str, name: str) -> Lease:
        """Return a lease as it is now."""
        ...

    async def create_lease(self, lease: Lease) -> Lease:
        """Create a lease and return it with its version; AlreadyThere if somebody was faster."""
        ...

    async def replace_lease(self, lease: Lease) -> Lease:
        """Write the lease if its version still is the latest, and return it with the new one."""
        ...

    async def create_config_map(self, config: ConfigMap) -> ConfigMap:
        """Create a ConfigMap and return it with its version; AlreadyThere if somebody was faster."""
        ...

    async def patch_data(self, target: Target, data: Mapping[str, str | None]) -> ConfigMap:
        """Set texts of a ConfigMap, remove those that are None, leave the others, and return it as it is then."""
        ...

    async def read_scale(self, target: Target) -> Scale:
        """Return how many pods a workload wants and has."""
        ...
