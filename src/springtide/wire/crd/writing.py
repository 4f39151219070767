"""Profiles and their status as documents: what `profiles` reads, written.

Devices that differ only by their place become one entry with a count. Scores between devices are said
inside an entry; the few that lead from one entry to another have no place in the document.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from springtide.base.errors import SpringtideError
from springtide.base.selectors import Operator, Requirement, Selector
from springtide.model.device import Device, MigProfile
from springtide.model.profile import (
    MODES,
    FamilyDevices,
    Homogeneity,
    OnMismatch,
    ProfileStatus,
    has_known_numa,
)
from springtide.wire.crd.device_schema import UNKNOWN
from springtide.wire.crd.profile_schema import API_VERSION, KIND

Document = dict[str, Any]

_EQUAL: Final = (Operator.EQUALS, Operator.DOUBLE_EQUALS)
_OPERATORS: Final = {
    Operator.EQUALS: "In",
    Operator.DOUBLE_EQUALS: "In",
    Operator.NOT_EQUALS: "NotIn",
    Operator.IN: "In",
    Operator.NOT_IN: "NotIn",
    Operator.EXISTS: "Exists",
    Operator.DOES_NOT_EXIST: "DoesNotExist",
}


class NotWritable(SpringtideError):
    """A document has no words for it; the message says what to do."""


def profile_object(
    name: str,
    selector: Selector,
    devices: FamilyDevices,
    *,
    homogeneity: Homogeneity,
    on_mismatch: OnMismatch,
) -> Document:
    """Return the document of a profile that describes these nodes, or raise NotWritable."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {
            "nodeSelector": selector_object(selector),
            "homogeneity": homogeneity.value,
            "devices": entries(devices),
            "onMismatch": on_mismatch.value,
        },
    }


def selector_object(selector: Selector) -> Document:
    """Return a selector as our documents have it, or raise NotWritable."""
    equal = [each for each in selector.requirements if each.operator in _EQUAL]
    labels = {each.key: each.values[0] for each in equal}
    expressions = [
        _expression(each)
        for each in selector.requirements
        if each.operator not in _EQUAL or labels[each.key] != each.values[0]
    ]
    said = {"matchLabels": labels, "matchExpressions": expressions}
    return {name: each for name, each in said.items() if each}


def _expression(requirement: Requirement) -> Document:
    if requirement.operator not in _OPERATORS:
        raise NotWritable(
            f'"{requirement}" compares numbers, which no nodeSelector does; name the values instead.'
        )
    values = {"values": [*requirement.values]} if requirement.values else {}
    operator = _OPERATORS[requirement.operator]
    return {"key": requirement.key, "operator": operator, **values}


def status_object(status: ProfileStatus) -> Document:
    """Return the status as it is merged into a stored profile."""
    verified = {
        "devices": entries(status.last_verified),
        "generation": status.verified_generation,
    }
    return {
        "observedGeneration": status.observed_generation,
        "observedNodes": status.observed_nodes,
        "verifiedNodes": status.verified_nodes,
        "mismatchedNodes": status.mismatched_nodes,
        "mismatches": [
            {"node": each.node, "reason": each.reason, "message": each.message}
            for each in status.mismatches
        ],
        "conditions": [
            {
                "type": each.type,
                "status": each.status,
                "observedGeneration": each.observed_generation,
                "lastTransitionTime": each.changed,
                "reason": each.reason,
                "message": each.message,
            }
            for each in status.conditions
        ],
        "lastVerified": verified if status.last_verified else None,
    }


def entries(devices: FamilyDevices) -> list[Document]:
    """Return the device list of a profile."""
    return [
        _entry(family, list(run)) for family, own in devices for _, run in groupby(own, key=_alike)
    ]


def _alike(device: Device) -> tuple[object, ...]:
    return (
        device.slots,
        device.memory_mib,
        device.cores,
        device.type,
        device.mode,
        device.mig_profiles,
        device.network is None,
    )


def _entry(family: str, run: Sequence[Device]) -> Document:
    return dict(_fields(family, run))


def _fields(family: str, run: Sequence[Device]) -> Iterator[tuple[str, Any]]:
    first = run[0]
    yield "vendor", family
    yield "count", len(run)
    yield "slots", first.slots
    yield "memoryMiB", first.memory_mib
    yield "cores", first.cores
    yield "type", first.type
    if first.mode in MODES:
        yield "mode", first.mode
    yield "numa", _collapsed([each.numa if has_known_numa(each) else UNKNOWN for each in run])
    if first.network is not None:
        yield "network", _collapsed([each.network or 0 for each in run])
    if first.mig_profiles:
        yield "migGeometries", [_shape(each) for each in first.mig_profiles]
    if any(each.links for each in run):
        yield "links", _table(run)


def _collapsed(values: Sequence[int]) -> list[int]:
    """Return one value for all, or one a device."""
    return [values[0]] if len({*values}) == 1 else [*values]


def _table(run: Sequence[Device]) -> list[list[int]]:
    return [[dict(each.links).get(other.id, 0) for other in run] for each in run]


def _shape(profile: MigProfile) -> Document:
    return {
        "name": profile.name,
        "memoryMB": profile.memory_mib,
        "core": profile.cores,
        "sliceCount": profile.slices,
        "placements": [{"start": each.start, "size": each.size} for each in profile.placements],
    }
