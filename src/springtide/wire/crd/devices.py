"""The device list of a profile: entries with a count, expanded to devices by position."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

from springtide.model.device import Device, MigPlacement, MigProfile
from springtide.model.profile import FamilyDevices, on_unknown_numa
from springtide.wire.crd.fields import (
    DEVICES_MAX,
    ENTRIES_MAX,
    INT32_MAX,
    NAME_CHARS_MAX,
    PLACEMENTS_MAX,
    SHAPES_MAX,
    rule,
    size,
    told,
)
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

MIG: Final = "mig"
USUAL_MODES: Final = {"NVIDIA": "hami-core"}
"""Vendors whose device plugin registers a mode, and the one unless it is told otherwise."""
UNKNOWN: Final = -1
"""A NUMA node that is not known."""


class PlacementEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where an instance may sit: first slice and number of slices."""

    start: Annotated[int, size("First slice.")]
    size: Annotated[int, size("Number of slices.", least=1)]


class GeometryEntry(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"memory_mib": "memoryMB", "cores": "core", "slices": "sliceCount"},
):
    """One instance shape, in the words of the device plugin's registration."""

    name: Annotated[str, told("Such as 1g.10gb.", minLength=1, maxLength=NAME_CHARS_MAX)]
    memory_mib: Annotated[int, size("Memory of an instance, in MiB.", least=1)]
    cores: Annotated[int, size("Compute of an instance, in percent of the device.")]
    slices: Annotated[int, size("Slices of the device that an instance takes.", least=1)]
    placements: Annotated[
        tuple[PlacementEntry, ...],
        told("Where instances may sit.", minItems=1, maxItems=PLACEMENTS_MAX),
    ]


Score = Annotated[int, msgspec.Meta(extra_json_schema={"minimum": 0, "maximum": INT32_MAX})]
Numa = Annotated[int, msgspec.Meta(extra_json_schema={"minimum": UNKNOWN, "maximum": INT32_MAX})]
Row = Annotated[tuple[Score, ...], msgspec.Meta(extra_json_schema={"maxItems": DEVICES_MAX})]


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
    """Equal devices of one vendor."""

    vendor: Annotated[str, told("The device family.", minLength=1, maxLength=NAME_CHARS_MAX)]
    count: Annotated[int, told("How many such devices a node has.", minimum=1, maximum=DEVICES_MAX)]
    slots: Annotated[int, size("How many containers may share one.")]
    memory_mib: Annotated[int, size("Memory of one, in MiB.")]
    cores: Annotated[int, size("Compute of one, in percent; of an NPU its AI cores.")] = 100
    type: Annotated[
        str,
        told("As the device plugin registers it.", minLength=1, maxLength=NAME_CHARS_MAX),
    ]
    mode: Annotated[
        Literal["hami-core", "mig", "mps"] | None,
        told("How one is shared; without it, as the vendor's plugin does unless told otherwise."),
    ] = None
    numa: Annotated[
        tuple[Numa, ...],
        told(
            "NUMA node: one value for all, or one a device; -1 where it is not known.",
            maxItems=DEVICES_MAX,
        ),
    ] = ()
    network: Annotated[
        tuple[Score, ...],
        told(
            "Number of the fast network: one value for all, or one a device.", maxItems=DEVICES_MAX
        ),
    ] = ()
    mig_geometries: Annotated[
        tuple[GeometryEntry, ...],
        told("The instance shapes of mode mig.", maxItems=SHAPES_MAX),
    ] = ()
    links: Annotated[
        tuple[Row, ...],
        told(
            "Scores between the devices, one row a device; the diagonal says nothing.",
            maxItems=DEVICES_MAX,
        ),
    ] = ()


ENTRY_RULES: Final = (
    rule(
        "!has(self.numa) || self.numa.size() in [0, 1, self.count]",
        "give one NUMA node a device, or one for all.",
        field="numa",
    ),
    rule(
        "!has(self.network) || self.network.size() in [0, 1, self.count]",
        "give one network a device, or one for all.",
        field="network",
    ),
    rule(
        "!has(self.links) || self.links.size() == 0 || (self.links.size() == self.count "
        "&& self.links.all(row, row.size() == self.count))",
        "make it a table of as many rows as there are devices, with as many scores each.",
        field="links",
    ),
    rule(
        "(has(self.mode) && self.mode == 'mig') "
        "== (has(self.migGeometries) && self.migGeometries.size() > 0)",
        "mode mig needs at least one instance shape, and shapes belong to mode mig.",
        field="migGeometries",
    ),
)
LIST_RULE: Final = rule(
    f"self.map(each, each.count).sum() <= {DEVICES_MAX}",
    f"a node has {DEVICES_MAX} devices at most; correct the counts.",
)
Entry = Annotated[
    DeviceEntry,
    msgspec.Meta(
        extra_json_schema={"x-kubernetes-validations": [dict(each) for each in ENTRY_RULES]}
    ),
]
Entries = Annotated[
    tuple[Entry, ...],
    told("Equal devices, one entry each kind, in the order of registration.", LIST_RULE,
         maxItems=ENTRIES_MAX),
]  # fmt: skip


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
