"""The device list of a profile: what cannot be true is refused, entries are expanded by position."""

from collections.abc import Iterator
from typing import Final

import msgspec

from springtide.model.device import Device, MigPlacement, MigProfile
from springtide.model.profile import FamilyDevices, on_unknown_numa
from springtide.wire.crd.device_schema import MIG, UNKNOWN, DeviceEntry, GeometryEntry
from springtide.wire.crd.fields import (
    DEVICES_MAX,
    ENTRIES_MAX,
    INT32_MAX,
    NAME_CHARS_MAX,
    PLACEMENTS_MAX,
    SHAPES_MAX,
)
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

USUAL_MODES: Final = {"NVIDIA": "hami-core"}
"""Vendors whose device plugin registers a mode, and the one unless it is told otherwise."""


def to_devices(entries: tuple[DeviceEntry, ...], *, origin: Origin, path: Path) -> FamilyDevices:
    """Return the devices by family, or raise InvalidDocument for what cannot be true."""
    if len(entries) > ENTRIES_MAX:
        reason = f"{len(entries)} entries are more than {ENTRIES_MAX}; put equal devices together."
        raise origin.fault(path, reason)
    families: dict[str, list[Device]] = {}
    total = 0
    for index, entry in enumerate(entries):
        check(entry, origin=origin, path=(*path, index))
        total += entry.count
        if total > DEVICES_MAX:
            reason = f"{total} devices on one node are more than {DEVICES_MAX}; correct it."
            raise origin.fault((*path, index, "count"), reason)
        devices = families.setdefault(entry.vendor, [])
        devices += _expanded(entry, first=len(devices))
    return tuple((family, tuple(devices)) for family, devices in families.items())


def check(entry: DeviceEntry, *, origin: Origin, path: Path) -> None:
    """Raise InvalidDocument for the first field of an entry that cannot be true."""
    for field, reason in (*_word_faults(entry), *_size_faults(entry), *_shape_faults(entry)):
        raise origin.fault((*path, *field), reason)


Fault = tuple[Path, str]


def _word_faults(entry: DeviceEntry) -> Iterator[Fault]:
    if not entry.vendor:
        yield ("vendor",), "the vendor is empty; name the device family, such as NVIDIA."
    if not entry.type:
        yield ("type",), "the type is empty; write it as the device plugin registers it."
    for field, word in (("vendor", entry.vendor), ("type", entry.type)):
        if len(word) > NAME_CHARS_MAX:
            yield (field,), f"it is longer than {NAME_CHARS_MAX} characters; correct it."


def _size_faults(entry: DeviceEntry) -> Iterator[Fault]:
    if not 1 <= entry.count <= DEVICES_MAX:
        reason = f"{entry.count} is not between 1 and {DEVICES_MAX}; say how many a node has."
        yield ("count",), reason
    sizes = {"slots": entry.slots, "memoryMiB": entry.memory_mib, "cores": entry.cores}
    for field, number in sizes.items():
        if number < 0:
            yield (field,), f"{number} is below 0; give the size of one device."
        if number > INT32_MAX:
            yield (field,), f"{number} is more than a device plugin can register; correct it."


def _shape_faults(entry: DeviceEntry) -> Iterator[Fault]:
    for field, given in (("numa", entry.numa), ("network", entry.network)):
        if len(given) not in {0, 1, entry.count}:
            reason = (
                f"{len(given)} values for {entry.count} devices; give one a device, or one for all."
            )
            yield (field,), reason
    if any(not UNKNOWN <= each <= INT32_MAX for each in entry.numa):
        yield (
            ("numa",),
            "a NUMA node is below -1; they are counted from 0, and -1 is an unknown one.",
        )
    if any(not 0 <= each <= INT32_MAX for each in entry.network):
        yield ("network",), "a network is below 0 or too large; give its number."
    is_square = len(entry.links) == entry.count and all(
        len(row) == entry.count for row in entry.links
    )
    if entry.links and not is_square:
        reason = f"this is not a table of {entry.count} rows with {entry.count} scores each; make it one."
        yield ("links",), reason
    if any(not 0 <= score <= INT32_MAX for row in entry.links for score in row):
        yield ("links",), "a score is below 0 or too large; correct it."
    yield from _geometry_faults(entry)


def _geometry_faults(entry: DeviceEntry) -> Iterator[Fault]:
    shapes = entry.mig_geometries
    if entry.mode == MIG and not shapes:
        yield ("migGeometries",), "mode mig needs at least one instance shape; list them."
    if entry.mode != MIG and shapes:
        reason = (
            "instance shapes belong to mode mig, and mode is "
            f"{entry.mode or 'not given'}; change one of them."
        )
        yield ("migGeometries",), reason
    if len(shapes) > SHAPES_MAX:
        yield ("migGeometries",), f"{len(shapes)} shapes are more than {SHAPES_MAX}; correct it."
    for index, each in enumerate(shapes):
        if not _is_shape(each):
            reason = "a name is empty, a size below 1 or a placement below 0; correct the shape."
            yield ("migGeometries", index), reason


def _is_shape(shape: GeometryEntry) -> bool:
    places = shape.placements
    numbers = (
        *(shape.memory_mib - 1, shape.slices - 1, shape.cores),
        *(number for place in places for number in (place.start, place.size - 1)),
    )
    return (
        1 <= len(shape.name) <= NAME_CHARS_MAX
        and 1 <= len(places) <= PLACEMENTS_MAX
        and all(0 <= number < INT32_MAX for number in numbers)
    )


def _expanded(entry: DeviceEntry, *, first: int) -> list[Device]:
    profiles = tuple(_profile(each) for each in entry.mig_geometries)
    return [
        _placed(
            Device(
                id=_id(first + position),
                index=first + position,
                slots=entry.slots,
                memory_mib=entry.memory_mib,
                cores=entry.cores,
                type=entry.type,
                mode=USUAL_MODES.get(entry.vendor, "") if entry.mode is None else entry.mode,
                is_healthy=True,
                mig_profiles=profiles,
                links=_links(entry, position, first=first),
                network=_at(entry.network, position),
            ),
            _at(entry.numa, position) or 0,
        )
        for position in range(entry.count)
    ]


def _placed(device: Device, numa: int) -> Device:
    if numa == UNKNOWN:
        return on_unknown_numa(device, device.index)
    return msgspec.structs.replace(device, numa=numa)


def _id(position: int) -> str:
    return f"template-{position}"


def _at(given: tuple[int, ...], position: int) -> int | None:
    """Return the value of one device: its own, or that of all; None if nothing is given."""
    if not given:
        return None
    return given[position if len(given) > 1 else 0]


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
