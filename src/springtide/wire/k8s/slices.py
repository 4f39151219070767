"""ResourceSlices, DeviceClasses and DeviceTaintRules as model records.

An attribute that is named without a domain belongs to the driver of its slice. List
attributes, which a default scheduler does not read either, are left out.
"""

from collections.abc import Iterable, Mapping
from operator import itemgetter

from springtide.base import quantity
from springtide.base.quantity import Quantity
from springtide.base.selectors import NodeSelectorTerm
from springtide.model.device_facts import Version
from springtide.model.device_slices import (
    AttributeValue,
    CounterSet,
    DeviceCapacity,
    DeviceClass,
    NodeScope,
    OfferedDevice,
    Quantities,
    RequestPolicy,
    RequestRange,
    ResourceSlice,
    TaintRule,
)
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import device_schema
from springtide.wire.k8s.parts import resources


def to_slice(read: device_schema.ResourceSlice) -> ResourceSlice:
    """Return the record of a slice, or raise MalformedObject."""
    spec = read.spec
    return ResourceSlice(
        name=read.metadata.name,
        driver=spec.driver,
        pool=spec.pool.name,
        generation=spec.pool.generation,
        slice_count=spec.pool.resource_slice_count,
        scope=_scope(spec),
        is_per_device=bool(spec.per_device_node_selection),
        devices=tuple(
            _device(each, spec.driver, path=f"spec.devices[{index}]")
            for index, each in enumerate(spec.devices)
        ),
        shared_counters=tuple(
            CounterSet(
                each.name, _counters(each.counters, f"spec.sharedCounters[{index}].counters")
            )
            for index, each in enumerate(spec.shared_counters)
        ),
    )


def to_device_class(read: device_schema.DeviceClass) -> DeviceClass:
    """Return the record of a class, or raise MalformedObject."""
    return DeviceClass(
        name=read.metadata.name,
        selectors=to_selectors(read.spec.selectors, path="spec.selectors"),
        extended_resource=read.spec.extended_resource_name or "",
        created=read.metadata.creation_timestamp or "",
    )


def to_taint_rule(read: device_schema.DeviceTaintRule) -> TaintRule:
    """Return the record of a taint rule, or raise MalformedObject."""
    spec = read.spec
    if spec.taint is None:
        raise MalformedObject("spec.taint", "this field is required and missing; add it.")
    selected = spec.device_selector or device_schema.TaintSelector()
    if selected.device_class_name or selected.selectors:
        reason = "classes and expressions are not read here; select by driver, pool or device."
        raise MalformedObject("spec.deviceSelector", reason)
    return TaintRule(
        name=read.metadata.name,
        taint=spec.taint,
        driver=selected.driver,
        pool=selected.pool,
        device=selected.device,
    )


def to_selectors(read: Iterable[device_schema.Selector], *, path: str) -> tuple[str, ...]:
    """Return the expressions of selectors, or raise MalformedObject for one without."""
    expressions = []
    for index, each in enumerate(read):
        if each.cel is None or not each.cel.expression:
            reason = "it selects by nothing that is known; give it `cel.expression`."
            raise MalformedObject(f"{path}[{index}]", reason)
        expressions.append(each.cel.expression)
    return tuple(expressions)


def to_terms(read: device_schema.NodeSelector | None) -> tuple[NodeSelectorTerm, ...] | None:
    """Return the terms of a node selector, None if there is none."""
    if read is None:
        return None
    return tuple(
        NodeSelectorTerm(expressions=term.match_expressions, fields=term.match_fields)
        for term in read.node_selector_terms
    )


def _scope(read: device_schema.ResourceSliceSpec | device_schema.BasicDevice) -> NodeScope | None:
    terms = to_terms(read.node_selector)
    if not read.node_name and not read.all_nodes and terms is None:
        return None
    return NodeScope(
        node_name=read.node_name or "", is_everywhere=bool(read.all_nodes), terms=terms
    )


def _device(read: device_schema.Device, driver: str, *, path: str) -> OfferedDevice:
    if not read.name:
        raise MalformedObject(f"{path}.name", "the device has no name; give it one.")
    about = read if read.basic is None else read.basic
    path = path if read.basic is None else f"{path}.basic"
    attributes = (
        (_full(name, driver), _value(each, f'{path}.attributes["{name}"]'))
        for name, each in (about.attributes or {}).items()
    )
    return OfferedDevice(
        name=read.name,
        attributes=tuple(
            sorted(
                ((name, each) for name, each in attributes if each is not None), key=itemgetter(0)
            )
        ),
        capacity=_capacities(about, path=f"{path}.capacity"),
        consumes=tuple(
            CounterSet(
                each.counter_set,
                _counters(each.counters, f"{path}.consumesCounters[{index}].counters"),
            )
            for index, each in enumerate(about.consumes_counters)
        ),
        scope=_scope(about),
        taints=about.taints,
        allows_multiple=bool(about.allow_multiple_allocations),
        binds_to_node=bool(about.binds_to_node),
        binding_conditions=about.binding_conditions,
    )


def _full(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _value(read: device_schema.Attribute, path: str) -> AttributeValue | None:
    version = None if read.version is None else Version(read.version)
    given = [each for each in (read.number, read.flag, read.string, version) if each is not None]
    if len(given) > 1:
        raise MalformedObject(path, "it has values of several types; give it one.")
    return given[0] if given else None


def _capacities(read: device_schema.BasicDevice, *, path: str) -> tuple[DeviceCapacity, ...]:
    found = [
        DeviceCapacity(
            name=name,
            value=to_amount(each.value, f'{path}["{name}"].value'),
            policy=_policy(each.request_policy, path=f'{path}["{name}"].requestPolicy'),
        )
        for name, each in (read.capacity or {}).items()
    ]
    return tuple(sorted(found, key=lambda each: each.name))


def _policy(read: device_schema.RequestPolicy | None, *, path: str) -> RequestPolicy | None:
    if read is None:
        return None
    values = read.valid_values
    bounds = read.valid_range
    return RequestPolicy(
        default=_given(read.default, f"{path}.default"),
        values=None
        if values is None
        else tuple(to_amount(each, f"{path}.validValues") for each in values),
        range=None
        if bounds is None
        else RequestRange(
            low=_given(bounds.min, f"{path}.validRange.min"),
            high=_given(bounds.max, f"{path}.validRange.max"),
            step=_given(bounds.step, f"{path}.validRange.step"),
        ),
    )


def _counters(read: Mapping[str, device_schema.Counter] | None, path: str) -> Quantities:
    return resources({name: each.value for name, each in (read or {}).items()}, path)


def _given(read: device_schema.Amount | None, path: str) -> Quantity | None:
    return None if read is None else to_amount(read, path)


def to_amount(read: device_schema.Amount, path: str) -> Quantity:
    """Return a quantity, or raise MalformedObject."""
    try:
        return quantity.from_json(read)
    except quantity.MalformedQuantity as fault:
        reason = f'"{fault.text}" is not a quantity; write one like 500m or 16Gi.'
        raise MalformedObject(path, reason) from fault
