"""What pods claim of devices, what they were given, and all device objects of a cluster.

A claim has requests, in order. A request is met `exactly`, or by the first of several alternatives
that can be. `DeviceObjects` holds what the API says at one moment; what pods that are placed since
then take is in the ledger.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from springtide.base.selectors import NodeSelectorTerm
from springtide.base.taints import Toleration
from springtide.model.device_slices import DeviceClass, Quantities, ResourceSlice, TaintRule
from springtide.model.pod import Owner

EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"


class DeviceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Devices of one class: `count` of them, or with the mode `All` every one.

    With `admin_access` devices count as free that others use. `capacity` is what is asked of each.
    """

    name: str
    class_name: str = ""
    selectors: tuple[str, ...] = ()
    mode: str = EXACT_COUNT
    count: int = 1
    admin_access: bool = False
    tolerations: tuple[Toleration, ...] = ()
    capacity: Quantities = ()


class Exactly(msgspec.Struct, frozen=True):
    """A request that has one form."""

    request: DeviceRequest


class FirstAvailable(msgspec.Struct, frozen=True):
    """A request that is met by the first of its alternatives that can be met."""

    name: str
    alternatives: tuple[DeviceRequest, ...]


ClaimRequest: TypeAlias = Exactly | FirstAvailable


class DeviceConstraint(msgspec.Struct, frozen=True, kw_only=True):
    """Devices must agree on an attribute, or differ in it if `is_distinct`.

    It concerns the devices of the named requests (`request` or `request/alternative`), of all
    requests if none is named.
    """

    attribute: str
    is_distinct: bool = False
    requests: tuple[str, ...] = ()


class DeviceUse(msgspec.Struct, frozen=True, kw_only=True):
    """One device that a claim was given, for a request.

    A device that allows it is used several times, each time up to `consumed` (None: all of it).
    """

    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool = False
    consumed: Quantities | None = None


class ClaimAllocation(msgspec.Struct, frozen=True):
    """What a claim was given; `terms` select the nodes that can use it, None is any node."""

    devices: tuple[DeviceUse, ...] = ()
    terms: tuple[NodeSelectorTerm, ...] | None = None


class ClaimContent(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """What a claim or a template asks for. Hashable."""

    requests: tuple[ClaimRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


NO_CONTENT: Final = ClaimContent()


class ResourceClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A ResourceClaim; `reserved_for` are the uids of its users."""

    namespace: str
    name: str
    uid: str = ""
    content: ClaimContent = NO_CONTENT
    allocation: ClaimAllocation | None = None
    reserved_for: tuple[str, ...] = ()
    owner: Owner | None = None
    is_terminating: bool = False

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"


class HeldClaim(msgspec.Struct, frozen=True):
    """What a claim of a placed pod was given; `key` is empty where no other pod can use the claim."""

    key: str
    allocation: ClaimAllocation


class ClaimTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A ResourceClaimTemplate: every pod that names it gets a claim of its own."""

    namespace: str
    name: str
    content: ClaimContent = NO_CONTENT

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"


class DeviceObjects(msgspec.Struct, frozen=True, kw_only=True):
    """All device objects, in the order of the input.

    Claims and templates are by `namespace/name`, classes, slices and taint rules by name.
    """

    claims: Mapping[str, ResourceClaim] = {}
    templates: Mapping[str, ClaimTemplate] = {}
    classes: Mapping[str, DeviceClass] = {}
    slices: Mapping[str, ResourceSlice] = {}
    taint_rules: Mapping[str, TaintRule] = {}

    @property
    def is_empty(self) -> bool:
        """Return whether nothing at all was said about devices."""
        return not (self.claims or self.templates or self.classes or self.slices)
