"""Profiles and their status as documents: what `profiles` reads, written.

Devices that differ only by their place become one entry with a count. Scores between devices are said
inside an entry; the few that lead from one entry to another have no place in the document.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from springtide.model.device import Device, MigProfile
from springtide.model.profile import (
    FamilyDevices,
    Homogeneity,
    OnMismatch,
    ProfileStatus,
    has_known_numa,
)
from springtide.wire.crd.devices import UNKNOWN
from springtide.wire.crd.profiles import API_VERSION, KIND

Document = dict[str, Any]

MODES: Final = ("hami-core", "mig", "mps")


def profile_object(
    name: str,
    labels: Mapping[str, str],
    devices: FamilyDevices,
    *,
    homogeneity: Homogeneity,
    on_mismatch: OnMismatch,
) -> Document:
    """Return the document of a profile that describes nodes with these labels."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {
            "nodeSelector": {"matchLabels": dict(labels)},
            "homogeneity": homogeneity.value,
            "devices": entries(devices),
            "onMismatch": on_mismatch.value,
        },
    }


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
