"""The records of a profile's device list: entries with a count, and what the API server can refuse of them."""

from typing import Annotated, Final, Literal

import msgspec

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

MIG: Final = "mig"
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
