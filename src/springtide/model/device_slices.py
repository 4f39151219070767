"""What drivers offer: devices in slices of pools, classes of devices, and taints put on them.

The records keep what the API says (`resource.k8s.io`), as far as allocation reads it. Names of
attributes are full, `domain/name`, those of capacities as written. A slice offers its devices to the nodes in its
scope; where `is_per_device`, each device has a scope of its own.
"""

from typing import TypeAlias

import msgspec

from springtide.base.quantity import Quantity
from springtide.base.selectors import NodeSelectorTerm
from springtide.base.taints import Taint
from springtide.model.device_facts import Version

AttributeValue: TypeAlias = bool | int | str | Version
Quantities: TypeAlias = tuple[tuple[str, Quantity], ...]
"""Quantities by name, sorted."""


class NodeScope(msgspec.Struct, frozen=True, kw_only=True):
    """Which nodes can reach devices: one by name, all of them, or those that terms select."""

    node_name: str = ""
    is_everywhere: bool = False
    terms: tuple[NodeSelectorTerm, ...] | None = None


class RequestRange(msgspec.Struct, frozen=True, kw_only=True):
    """Amounts that may be consumed: `low` and whole steps above it, up to `high`."""

    low: Quantity | None = None
    high: Quantity | None = None
    step: Quantity | None = None


class RequestPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a capacity a request consumes; `values` is None where any amount goes."""

    default: Quantity | None = None
    values: tuple[Quantity, ...] | None = None
    range: RequestRange | None = None


class DeviceCapacity(msgspec.Struct, frozen=True, kw_only=True):
    """How much a device has of something."""

    name: str
    value: Quantity
    policy: RequestPolicy | None = None


class CounterSet(msgspec.Struct, frozen=True):
    """Counters by name: what devices of a pool share, or what one device takes of that."""

    name: str
    counters: Quantities = ()


class OfferedDevice(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """One device of a slice; `attributes` and `capacity` are sorted by name.

    `binds_to_node` ties whoever uses it to the node it is chosen for. A device with
    `binding_conditions` is ready for use only after these are met.
    """

    name: str
    attributes: tuple[tuple[str, AttributeValue], ...] = ()
    capacity: tuple[DeviceCapacity, ...] = ()
    consumes: tuple[CounterSet, ...] = ()
    scope: NodeScope | None = None
    taints: tuple[Taint, ...] = ()
    allows_multiple: bool = False
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()


class PoolName(msgspec.Struct, frozen=True, gc=False):
    """A pool of one driver."""

    driver: str
    pool: str

    @property
    def text(self) -> str:
        """Return `driver/pool`."""
        return f"{self.driver}/{self.pool}"


class ResourceSlice(msgspec.Struct, frozen=True, kw_only=True):
    """A ResourceSlice: part of a pool, which has `slice_count` of them in this generation."""

    name: str
    driver: str
    pool: str
    generation: int = 0
    slice_count: int = 0
    scope: NodeScope | None = None
    is_per_device: bool = False
    devices: tuple[OfferedDevice, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()

    @property
    def pool_name(self) -> PoolName:
        """Return which pool the slice is a part of."""
        return PoolName(self.driver, self.pool)


class DeviceClass(msgspec.Struct, frozen=True, kw_only=True):
    """A DeviceClass. `selectors` are expressions that a device must all meet.

    `extended_resource` is the resource name under which pods may ask for its devices, empty if none.
    """

    name: str
    selectors: tuple[str, ...] = ()
    extended_resource: str = ""
    created: str = ""


class TaintRule(msgspec.Struct, frozen=True, kw_only=True):
    """A DeviceTaintRule: one taint for the devices it selects; None selects any."""

    name: str
    taint: Taint
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
