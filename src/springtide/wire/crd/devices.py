"""The device list of a profile: entries with a count, expanded to devices by position."""

from typing import Final, Literal

import msgspec

from springtide.model.device import Device, MigPlacement, MigProfile
from springtide.model.profile import FamilyDevices
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

DEVICES_MAX: Final = 1024
MIG: Final = "mig"
USUAL_MODES: Final = {"NVIDIA": "hami-core"}
"""Vendors whose device plugin registers a mode, and the one unless it is told otherwise."""


class _Strict(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the document in which every field counts."""


class PlacementEntry(_Strict, frozen=True):
    """Where an instance may sit: first slice and number of slices."""

    start: int
    size: int


class GeometryEntry(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"memory_mib": "memoryMB", "cores": "core", "slices": "sliceCount"},
):
    """One instance shape, in the words of the device plugin's registration."""

    name: str
    memory_mib: int
    cores: int
    slices: int
    placements: tuple[PlacementEntry, ...]


class DeviceEntry(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={
        "memory_mib": "memoryMiB",
        "mig_geometries": "migGeometries",
    },
):
    """Equal devices of one vendor.

    `numa` and `network` are one value for all or one a device. Without `mode` it is the one that the
    vendor's plugin registers unless told otherwise. `links` is a square table of pair scores, one row
    a device; the diagonal says nothing.
    """

    vendor: str
    count: int
    slots: int
    memory_mib: int
    cores: int = 100
    type: str
    mode: Literal["hami-core", "mig", "mps"] | None = None
    numa: int | tuple[int, ...] = 0
    network: int | tuple[int, ...] | None = None
    mig_geometries: tuple[GeometryEntry, ...] = ()
    links: tuple[tuple[int, ...], ...] = ()


def to_devices(entries: tuple[DeviceEntry, ...], *, origin: Origin, path: Path) -> FamilyDevices:
    """Return the devices by family, or raise InvalidDocument for what cannot be true."""
    families: dict[str, list[Device]] = {}
    for index, entry in enumerate(entries):
        check(entry, origin=origin, path=(*path, index))
        devices = families.setdefault(entry.vendor, [])
        devices += _expanded(entry, first=len(devices))
        if len(devices) > DEVICES_MAX:
            reason = f"{len(devices)} devices on one node are more than {DEVICES_MAX}; correct it."
            raise origin.fault((*path, index, "count"), reason)
    return tuple((family, tuple(devices)) for family, devices in families.items())


def check(entry: DeviceEntry, *, origin: Origin, path: Path) -> None:
    """Raise InvalidDocument for the first field of an entry that cannot be true."""
    for field, reason in (*_size_faults(entry), *_shape_faults(entry)):
        raise origin.fault((*path, *field), reason)


def _size_faults(entry: DeviceEntry) -> list[tuple[Path, str]]:
    if not entry.vendor:
        return [(("vendor",), "the vendor is empty; name the device family, such as NVIDIA.")]
    if not entry.type:
        return [(("type",), "the type is empty; write it as the device plugin registers it.")]
    if not 1 <= entry.count <= DEVICES_MAX:
        reason = f"{entry.count} is not between 1 and {DEVICES_MAX}; say how many a node has."
        return [(("count",), reason)]
    sizes = {"slots": entry.slots, "memoryMiB": entry.memory_mib, "cores": entry.cores}
    return [
        ((field,), f"{size} is below 0; give the size of one device.")
        for field, size in sizes.items()
        if size < 0
    ]


def _shape_faults(entry: DeviceEntry) -> list[tuple[Path, str]]:
    faults: list[tuple[Path, str]] = []
    for field, given in (("numa", entry.numa), ("network", entry.network)):
        size = len(given) if isinstance(given, tuple) else 1
        if size not in {1, entry.count}:
            reason = f"{size} values for {entry.count} devices; give one a device, or one for all."
            faults.append(((field,), reason))
    if any(each < 0 for each in (entry.numa if isinstance(entry.numa, tuple) else (entry.numa,))):
        faults.append((("numa",), "a NUMA node is below 0; they are counted from 0."))
    is_square = len(entry.links) == entry.count and all(
        len(row) == entry.count for row in entry.links
    )
    if entry.links and not is_square:
        reason = f"this is not a table of {entry.count} rows with {entry.count} scores each; make it one."
        faults.append((("links",), reason))
    if (entry.mode == MIG) != bool(entry.mig_geometries):
        reason = (
            "mode mig needs at least one instance shape; list them."
            if entry.mode == MIG
            else "instance shapes belong to mode mig, and mode is "
            f"{entry.mode or 'not given'}; change one of them."
        )
        faults.append((("migGeometries",), reason))
    return faults + _geometry_faults(entry)


def _geometry_faults(entry: DeviceEntry) -> list[tuple[Path, str]]:
    return [
        (("migGeometries", index), "a size is below 1 or a placement below 0; correct the shape.")
        for index, each in enumerate(entry.mig_geometries)
        if min(each.memory_mib, each.slices) < 1
        or each.cores < 0
        or not each.placements
        or any(place.start < 0 or place.size < 1 for place in each.placements)
    ]


def _expanded(entry: DeviceEntry, *, first: int) -> list[Device]:
    profiles = tuple(_profile(each) for each in entry.mig_geometries)
    return [
        Device(
            id=_id(first + position),
            index=first + position,
            slots=entry.slots,
            memory_mib=entry.memory_mib,
            cores=entry.cores,
            type=entry.type,
            numa=_numa(entry, position),
            mode=USUAL_MODES.get(entry.vendor, "") if entry.mode is None else entry.mode,
            is_healthy=True,
            mig_profiles=profiles,
            links=_links(entry, position, first=first),
            network=_network(entry, position),
        )
        for position in range(entry.count)
    ]


def _id(position: int) -> str:
    return f"template-{position}"


def _numa(entry: DeviceEntry, position: int) -> int:
    if isinstance(entry.numa, int):
        return entry.numa
    return entry.numa[position if len(entry.numa) > 1 else 0]


def _network(entry: DeviceEntry, position: int) -> int | None:
    if not isinstance(entry.network, tuple):
        return entry.network
    return entry.network[position if len(entry.network) > 1 else 0]


def _links(entry: DeviceEntry, position: int, *, first: int) -> tuple[tuple[str, int], ...]:
    if not entry.links:
        return ()
    scores = enumerate(entry.links[position])
    return tuple((_id(first + other), score) for other, score in scores if other != position)


def _profile(entry: GeometryEntry) -> MigProfile:
    return MigProfile(
        name=entry.name,
        memory_mib=entry.memory_mib,
        cores=entry.cores,
        slices=entry.slices,
        placements=tuple(
            MigPlacement(start=each.start, size=each.size) for each in entry.placements
        ),
    )
