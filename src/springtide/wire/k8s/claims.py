"""ResourceClaims and their templates as model records.

A request that leaves out its mode or count is read as an API server would store it: one device. A
claim in an object that no API server has seen is read the same way.
"""

from typing import Final

from springtide.model.resource_claims import (
    ALL,
    EXACT_COUNT,
    ClaimAllocation,
    ClaimContent,
    ClaimRequest,
    ClaimTemplate,
    DeviceConstraint,
    DeviceRequest,
    DeviceUse,
    Exactly,
    FirstAvailable,
    ResourceClaim,
)
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import device_schema
from springtide.wire.k8s.parts import resources
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE, to_owner
from springtide.wire.k8s.slices import to_selectors, to_terms

PODS: Final = "pods"
_MODES: Final = (EXACT_COUNT, ALL)


def to_resource_claim(read: device_schema.ResourceClaim) -> ResourceClaim:
    """Return the record of a claim, or raise MalformedObject."""
    metadata, status = read.metadata, read.status
    return ResourceClaim(
        namespace=metadata.namespace or DEFAULT_NAMESPACE,
        name=metadata.name,
        uid=metadata.uid,
        content=_content(read.spec, path="spec"),
        allocation=_allocation(status.allocation),
        reserved_for=tuple(each.uid for each in status.reserved_for if each.resource == PODS),
        owner=to_owner(metadata),
        is_terminating=bool(metadata.deletion_timestamp),
    )


def to_claim_template(read: device_schema.ResourceClaimTemplate) -> ClaimTemplate:
    """Return the record of a template, or raise MalformedObject."""
    metadata = read.metadata
    return ClaimTemplate(
        namespace=metadata.namespace or DEFAULT_NAMESPACE,
        name=metadata.name,
        content=_content(read.spec.spec, path="spec.spec"),
    )


def _content(read: device_schema.ClaimSpec, *, path: str) -> ClaimContent:
    devices, path = read.devices, f"{path}.devices"
    return ClaimContent(
        requests=tuple(
            _claim_request(each, path=f"{path}.requests[{index}]")
            for index, each in enumerate(devices.requests)
        ),
        constraints=tuple(
            _constraint(each, path=f"{path}.constraints[{index}]")
            for index, each in enumerate(devices.constraints)
        ),
    )


def _claim_request(read: device_schema.ClaimRequest, *, path: str) -> ClaimRequest:
    if read.first_available:
        alternatives = tuple(
            _request(each, each.name, path=f"{path}.firstAvailable[{index}]")
            for index, each in enumerate(read.first_available)
        )
        return FirstAvailable(read.name, alternatives)
    if read.exactly is None and not read.device_class_name:
        reason = "it asks for nothing; give it `exactly` or `firstAvailable`."
        raise MalformedObject(path, reason)
    exactly = read if read.exactly is None else read.exactly
    inner = path if read.exactly is None else f"{path}.exactly"
    return Exactly(_request(exactly, read.name, path=inner))


def _request(read: device_schema.DeviceRequest, name: str, *, path: str) -> DeviceRequest:
    mode = read.allocation_mode or EXACT_COUNT
    if mode not in _MODES:
        reason = f'"{mode}" is not allowed; give {EXACT_COUNT} or {ALL}.'
        raise MalformedObject(f"{path}.allocationMode", reason)
    if read.count < 0:
        reason = f"{read.count} is not allowed; give a number above 0."
        raise MalformedObject(f"{path}.count", reason)
    asked = read.capacity.requests if read.capacity is not None else None
    return DeviceRequest(
        name=name,
        class_name=read.device_class_name,
        selectors=to_selectors(read.selectors, path=f"{path}.selectors"),
        mode=mode,
        count=read.count or 1,
        admin_access=bool(read.admin_access),
        tolerations=read.tolerations,
        capacity=resources(asked or {}, f"{path}.capacity.requests"),
    )


def _constraint(read: device_schema.Constraint, *, path: str) -> DeviceConstraint:
    attribute = read.match_attribute or read.distinct_attribute
    if not attribute or (read.match_attribute and read.distinct_attribute):
        reason = "give it one of `matchAttribute` and `distinctAttribute`."
        raise MalformedObject(path, reason)
    return DeviceConstraint(
        attribute=attribute, is_distinct=read.match_attribute is None, requests=read.requests
    )


def _allocation(read: device_schema.Allocation | None) -> ClaimAllocation | None:
    if read is None:
        return None
    path = "status.allocation.devices.results"
    uses = tuple(
        _use(each, path=f"{path}[{index}]") for index, each in enumerate(read.devices.results)
    )
    return ClaimAllocation(uses, to_terms(read.node_selector))


def _use(read: device_schema.Result, *, path: str) -> DeviceUse:
    consumed = read.consumed_capacity
    if consumed is None and read.share_id:
        consumed = {}
    return DeviceUse(
        request=read.request,
        driver=read.driver,
        pool=read.pool,
        device=read.device,
        admin_access=bool(read.admin_access),
        consumed=None if consumed is None else resources(consumed, f"{path}.consumedCapacity"),
    )
