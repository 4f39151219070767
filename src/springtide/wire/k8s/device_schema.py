"""The fields of device objects (`resource.k8s.io`) that we read, in the shape of the API.

One shape reads v1, v1beta2 and v1beta1: the last has `basic` inside a device, and a request without
`exactly` around it.
"""

from typing import TypeAlias

from springtide.base.selectors import NodeSelectorRequirement
from springtide.base.taints import Taint, Toleration
from springtide.wire.k8s.schema import Metadata, Quantities, Read

Amount: TypeAlias = str | int | float


class NodeTerm(Read, frozen=True):
    """A node selector term."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Read, frozen=True):
    """Which nodes something is for."""

    node_selector_terms: tuple[NodeTerm, ...] = ()


class CelSelector(Read, frozen=True):
    """A selector in the Common Expression Language."""

    expression: str = ""


class Selector(Read, frozen=True):
    """A device selector; there is one kind."""

    cel: CelSelector | None = None


# ---- classes


class DeviceClassSpec(Read, frozen=True):
    """What belongs to a class."""

    selectors: tuple[Selector, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(Read, frozen=True, tag="DeviceClass", tag_field="kind"):
    """A class of devices."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: DeviceClassSpec = DeviceClassSpec()


# ---- slices


class Pool(Read, frozen=True):
    """Which pool a slice belongs to."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class Attribute(Read, frozen=True, rename={"number": "int", "flag": "bool"}):
    """The value of an attribute, in the field for its type."""

    number: int | None = None
    flag: bool | None = None
    string: str | None = None
    version: str | None = None


class ValidRange(Read, frozen=True):
    """Amounts that may be consumed."""

    min: Amount | None = None
    max: Amount | None = None
    step: Amount | None = None


class RequestPolicy(Read, frozen=True):
    """How requests for a capacity are rounded."""

    default: Amount | None = None
    valid_values: tuple[Amount, ...] | None = None
    valid_range: ValidRange | None = None


class Capacity(Read, frozen=True):
    """How much a device has of something."""

    value: Amount = "0"
    request_policy: RequestPolicy | None = None


class Counter(Read, frozen=True):
    """A number of a counter set."""

    value: Amount = "0"


class CounterSet(Read, frozen=True):
    """Counters that devices share."""

    name: str = ""
    counters: dict[str, Counter] | None = None


class CounterUse(Read, frozen=True):
    """What a device takes of a counter set."""

    counter_set: str = ""
    counters: dict[str, Counter] | None = None


class BasicDevice(Read, frozen=True):
    """What is said about a device."""

    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Capacity] | None = None
    consumes_counters: tuple[CounterUse, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[Taint, ...] = ()
    allow_multiple_allocations: bool | None = None
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = ()


class Device(BasicDevice, frozen=True):
    """A device; the oldest version has all but its name in `basic`."""

    name: str = ""
    basic: BasicDevice | None = None


class ResourceSliceSpec(Read, frozen=True):
    """A part of a pool."""

    driver: str = ""
    pool: Pool = Pool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(Read, frozen=True, tag="ResourceSlice", tag_field="kind"):
    """A slice."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: ResourceSliceSpec = ResourceSliceSpec()


# ---- claims


class CapacityRequests(Read, frozen=True):
    """What is asked of each device."""

    requests: Quantities | None = None


class DeviceRequest(Read, frozen=True):
    """Devices of one class."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[Selector, ...] = ()
    allocation_mode: str = ""
    count: int = 0
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()
    capacity: CapacityRequests | None = None


class ClaimRequest(DeviceRequest, frozen=True):
    """A request of a claim: the oldest version has the fields of `exactly` beside its name."""

    exactly: DeviceRequest | None = None
    first_available: tuple[DeviceRequest, ...] = ()


class Constraint(Read, frozen=True):
    """What must hold among the devices of a claim."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(Read, frozen=True):
    """The devices of a claim."""

    requests: tuple[ClaimRequest, ...] = ()
    constraints: tuple[Constraint, ...] = ()


class ClaimSpec(Read, frozen=True):
    """What is claimed."""

    devices: DeviceClaim = DeviceClaim()


class Result(Read, frozen=True, rename={"share_id": "shareID", "admin_access": "adminAccess",
                           "consumed_capacity": "consumedCapacity"}):  # fmt: skip
    """One device that was given."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    consumed_capacity: Quantities | None = None
    share_id: str | None = None


class AllocatedDevices(Read, frozen=True):
    """The devices that were given."""

    results: tuple[Result, ...] = ()


class Allocation(Read, frozen=True):
    """What a claim was given, and where that can be used."""

    devices: AllocatedDevices = AllocatedDevices()
    node_selector: NodeSelector | None = None


class Consumer(Read, frozen=True):
    """Who uses a claim."""

    resource: str = ""
    name: str = ""
    uid: str = ""


class ClaimStatus(Read, frozen=True):
    """What became of a claim."""

    allocation: Allocation | None = None
    reserved_for: tuple[Consumer, ...] = ()


class ResourceClaim(Read, frozen=True, tag="ResourceClaim", tag_field="kind"):
    """A claim."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class ClaimTemplateSpec(Read, frozen=True):
    """The claim that a template makes."""

    spec: ClaimSpec = ClaimSpec()


class ResourceClaimTemplate(Read, frozen=True, tag="ResourceClaimTemplate", tag_field="kind"):
    """A template of claims."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: ClaimTemplateSpec = ClaimTemplateSpec()


# ---- taint rules


class TaintSelector(Read, frozen=True):
    """Which devices a rule taints."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    device_class_name: str | None = None
    selectors: tuple[Selector, ...] = ()


class TaintRuleSpec(Read, frozen=True):
    """A taint for some devices."""

    device_selector: TaintSelector | None = None
    taint: Taint | None = None


class DeviceTaintRule(Read, frozen=True, tag="DeviceTaintRule", tag_field="kind"):
    """A rule that taints devices."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: TaintRuleSpec = TaintRuleSpec()


DeviceObject: TypeAlias = (
    DeviceClass | ResourceSlice | ResourceClaim | ResourceClaimTemplate | DeviceTaintRule
)
