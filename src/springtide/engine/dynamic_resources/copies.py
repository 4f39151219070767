"""What becomes of a node's devices when the node is copied: pools and allocations of the copy.

A new node has the devices that only its origin reaches, in pools that carry its own name. Pods that
come with it hold the same devices there as on the origin. Devices that other nodes reach too are not
copied: the new node sees them as they are.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from springtide.engine.dynamic_resources.naming import claim_keys
from springtide.engine.dynamic_resources.pools import pools_of
from springtide.model.device_slices import NodeScope, PoolName, ResourceSlice
from springtide.model.pod import Pod
from springtide.model.resource_claims import ClaimAllocation, DeviceObjects


def slices_by_node(slices: Iterable[ResourceSlice]) -> dict[str, tuple[ResourceSlice, ...]]:
    """Return the slices that belong to one node, by its name."""
    found: dict[str, list[ResourceSlice]] = {}
    for each in slices:
        if each.scope is not None and each.scope.node_name and not each.is_per_device:
            found.setdefault(each.scope.node_name, []).append(each)
    return {name: tuple(own) for name, own in found.items()}


def are_whole(slices: Sequence[ResourceSlice]) -> bool:
    """Return whether no pool of these slices is incomplete."""
    return not any(pool.is_incomplete for pool in pools_of(slices))


def renamed(slices: Iterable[ResourceSlice], name: str) -> list[ResourceSlice]:
    """Return slices for one node as those of another node of this name."""
    return [
        replace(each, pool=_pool(each.pool, name), scope=NodeScope(node_name=name))
        for each in slices
    ]


def copied_uses(
    pods: Iterable[Pod], slices: Sequence[ResourceSlice], objects: DeviceObjects
) -> dict[str, tuple[ClaimAllocation, ...]]:
    """Return what pods of a node hold of its own devices, by the uid of the pod."""
    own = {each.pool_name for each in slices}
    found: dict[str, tuple[ClaimAllocation, ...]] = {}
    for pod in pods:
        claims = (objects.claims.get(key) for key in claim_keys(pod))
        given = (each.allocation for each in claims if each is not None)
        uses = tuple(_among(each, own) for each in given if each is not None)
        if any(each.devices for each in uses):
            found[pod.uid] = uses
    return found


def moved(allocation: ClaimAllocation, name: str) -> ClaimAllocation:
    """Return an allocation of a node's own devices as that of a copy of this name."""
    return ClaimAllocation(
        tuple(replace(use, pool=_pool(use.pool, name)) for use in allocation.devices)
    )


def _among(allocation: ClaimAllocation, own: set[PoolName]) -> ClaimAllocation:
    return ClaimAllocation(
        tuple(use for use in allocation.devices if PoolName(use.driver, use.pool) in own)
    )


def _pool(pool: str, name: str) -> str:
    return f"{pool}-{name}"
