"""Devices, slices and claims for tests: every builder takes only what a test is about."""

from collections.abc import Mapping, Sequence

from springtide.base import quantity
from springtide.base.taints import Taint
from springtide.engine.dynamic_resources.requests import WantedClaim, wanted_claim
from springtide.model.device_facts import DeviceFacts, SelectorFault
from springtide.model.device_slices import (
    AttributeValue,
    CounterSet,
    DeviceCapacity,
    DeviceClass,
    NodeScope,
    OfferedDevice,
    RequestPolicy,
    ResourceSlice,
)
from springtide.model.pod import Pod, PodClaim, PodSpec
from springtide.model.resource_claims import (
    ClaimAllocation,
    ClaimContent,
    ClaimRequest,
    ClaimTemplate,
    DeviceConstraint,
    DeviceObjects,
    DeviceRequest,
    DeviceUse,
    Exactly,
    FirstAvailable,
    ResourceClaim,
)

DRIVER = "gpu.example.com"
CLASS = DeviceClass(name="gpu")


class ByAttribute:
    """Selectors for tests: `model=a100` compares an attribute, which a device must have."""

    def __init__(self) -> None:
        self.asked = 0

    def matches(self, expression: str, device: DeviceFacts) -> bool:
        """Return whether the attribute has this value, or raise SelectorFault if there is none."""
        self.asked += 1
        name, _, wanted = expression.partition("=")
        value = device.attributes.get(f"{DRIVER}/{name}")
        if value is None:
            raise SelectorFault(f"no such key: {name}")
        return str(value) == wanted


def offered(
    name: str,
    attributes: Mapping[str, AttributeValue] | None = None,
    *,
    capacity: Mapping[str, str] | None = None,
    policy: RequestPolicy | None = None,
    takes: Mapping[str, str] | None = None,
    taints: Sequence[Taint] = (),
    scope: NodeScope | None = None,
    is_shared: bool = False,
    binds: bool = False,
    conditions: Sequence[str] = (),
) -> OfferedDevice:
    """Return a device; what it takes is of the counter set `set`."""
    sizes = sorted((capacity or {}).items())
    return OfferedDevice(
        name=name,
        attributes=tuple(
            sorted((f"{DRIVER}/{key}", each) for key, each in (attributes or {}).items())
        ),
        capacity=tuple(
            DeviceCapacity(name=key, value=quantity.parse(size), policy=policy)
            for key, size in sizes
        ),
        consumes=(counters(takes),) if takes else (),
        taints=tuple(taints),
        scope=scope,
        allows_multiple=is_shared,
        binds_to_node=binds,
        binding_conditions=tuple(conditions),
    )


def counters(amounts: Mapping[str, str], name: str = "set") -> CounterSet:
    """Return a counter set."""
    return CounterSet(
        name, tuple((key, quantity.parse(each)) for key, each in sorted(amounts.items()))
    )


def sliced(
    *devices: OfferedDevice,
    node: str = "a",
    pool: str = "",
    name: str = "",
    generation: int = 1,
    count: int = 1,
    scope: NodeScope | None = None,
    shared: Mapping[str, str] | None = None,
    is_per_device: bool = False,
) -> ResourceSlice:
    """Return a slice of a pool that is named for its node."""
    own = None if is_per_device else NodeScope(node_name=node)
    return ResourceSlice(
        name=name or f"{pool or node}-{generation}",
        driver=DRIVER,
        pool=pool or node,
        generation=generation,
        slice_count=count,
        scope=scope or own,
        is_per_device=is_per_device,
        devices=devices,
        shared_counters=(counters(shared),) if shared else (),
    )


def request(
    name: str = "r",
    count: int = 1,
    *,
    selector: str = "",
    mode: str = "ExactCount",
    capacity: Mapping[str, str] | None = None,
    admin: bool = False,
    class_name: str = "gpu",
) -> DeviceRequest:
    """Return a request for devices."""
    return DeviceRequest(
        name=name,
        class_name=class_name,
        selectors=(selector,) if selector else (),
        mode=mode,
        count=count,
        admin_access=admin,
        capacity=tuple(
            (key, quantity.parse(each)) for key, each in sorted((capacity or {}).items())
        ),
    )


def first_of(*alternatives: DeviceRequest, name: str = "r") -> FirstAvailable:
    """Return a request that is met by the first of these that can be."""
    return FirstAvailable(name, alternatives)


def content(
    *requests: DeviceRequest | FirstAvailable, constraints: Sequence[DeviceConstraint] = ()
) -> ClaimContent:
    """Return what a claim asks for."""
    wanted: list[ClaimRequest] = [
        each if isinstance(each, FirstAvailable) else Exactly(each) for each in requests
    ]
    return ClaimContent(requests=tuple(wanted), constraints=tuple(constraints))


def wanted(
    *requests: DeviceRequest | FirstAvailable, constraints: Sequence[DeviceConstraint] = ()
) -> WantedClaim:
    """Return a claim that is ready to be searched for, of the class `gpu`."""
    asked = content(*requests, constraints=constraints)
    return wanted_claim("default/mine", asked, {CLASS.name: CLASS})


def same(attribute: str, *requests: str) -> DeviceConstraint:
    """Return the constraint that devices agree on an attribute."""
    return DeviceConstraint(attribute=f"{DRIVER}/{attribute}", requests=requests)


def distinct(attribute: str, *requests: str) -> DeviceConstraint:
    """Return the constraint that devices all differ in an attribute."""
    return DeviceConstraint(attribute=f"{DRIVER}/{attribute}", is_distinct=True, requests=requests)


def given(*devices: str, pool: str = "a", admin: bool = False) -> ClaimAllocation:
    """Return an allocation of devices of a pool."""
    return ClaimAllocation(
        tuple(
            DeviceUse(request="r", driver=DRIVER, pool=pool, device=each, admin_access=admin)
            for each in devices
        )
    )


def share(device: str, pool: str = "a", **amounts: str) -> ClaimAllocation:
    """Return an allocation of a share of a device."""
    consumed = tuple((key, quantity.parse(each)) for key, each in sorted(amounts.items()))
    use = DeviceUse(request="r", driver=DRIVER, pool=pool, device=device, consumed=consumed)
    return ClaimAllocation((use,))


def claim(
    name: str = "mine",
    asked: ClaimContent | None = None,
    *,
    allocation: ClaimAllocation | None = None,
    users: Sequence[str] = (),
) -> ResourceClaim:
    """Return a claim for one device, unless something else is asked."""
    return ResourceClaim(
        namespace="default",
        name=name,
        uid=name,
        content=asked or content(request()),
        allocation=allocation,
        reserved_for=tuple(users),
    )


def claiming(*claims: str, template: str = "", name: str = "pending") -> Pod:
    """Return a pod with these claims, and one that is made from a template."""
    named = [PodClaim(name=each, claim=each) for each in claims]
    if template:
        named.append(PodClaim(name=template, template=template))
    spec = PodSpec(device_claims=tuple(named))
    return Pod(namespace="default", name=name, uid=name, spec=spec)


def objects(
    *found: ResourceClaim | ResourceSlice | DeviceClass | ClaimTemplate,
) -> DeviceObjects:
    """Return these device objects, and the class `gpu`."""
    classes = [CLASS, *(each for each in found if isinstance(each, DeviceClass))]
    return DeviceObjects(
        claims={each.key: each for each in found if isinstance(each, ResourceClaim)},
        templates={each.key: each for each in found if isinstance(each, ClaimTemplate)},
        classes={each.name: each for each in classes},
        slices={each.name: each for each in found if isinstance(each, ResourceSlice)},
    )
