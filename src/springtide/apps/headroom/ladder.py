"""The standard ladder: parts of a device, whole devices, and without any devices cpu and memory."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from msgspec.structs import replace

from springtide.apps.headroom import words
from springtide.apps.headroom.asks import Asked
from springtide.apps.headroom.written import Making, made
from springtide.base.quantity import parse
from springtide.engine.placement.family import Portion, Spelling
from springtide.model.device_columns import DeviceColumns
from springtide.model.ledger import Ledger
from springtide.model.refusal import Refusal

PARTS: Final = (8, 4, 2)
WHOLE: Final = (1, 2, 4, 8)
PLAIN: Final = (("1", "4Gi"), ("2", "8Gi"), ("4", "16Gi"), ("8", "32Gi"), ("16", "64Gi"))


def ladder(ledger: Ledger, making: Making) -> list[Asked]:
    """Return the ladder of every device type; more devices than a node has are left out."""
    if not making.types:
        return [_plain(cpu, memory, making) for cpu, memory in PLAIN]
    return [
        ask
        for family, types in making.types.items()
        for name in types
        for ask in _of_type(ledger.devices[family], name, making)
    ]


def device_types(ledger: Ledger) -> Mapping[str, tuple[str, ...]]:
    """Return the types of devices that nodes have, by family."""
    found = {family: _present(columns) for family, columns in ledger.devices.items()}
    return {family: types for family, types in found.items() if types}


def _present(columns: DeviceColumns) -> tuple[str, ...]:
    is_there = np.arange(columns.width) < columns.count[:, None]
    codes = np.bincount(columns.model[is_there], minlength=len(columns.types))
    return tuple(
        name for name, count in zip(columns.types.values, codes.tolist(), strict=True) if count
    )


def _of_type(columns: DeviceColumns, name: str, making: Making) -> Iterator[Asked]:
    is_there = np.arange(columns.width) < columns.count[:, None]
    mine = is_there & (columns.model == columns.types.code(name))
    sizes = np.sort(columns.memory_total[mine])
    memory = int(sizes[len(sizes) // 2])
    most = int(mine.sum(axis=1).max())
    title = words.model(columns.family, name)
    parts = [(f"1/{part}", memory // part) for part in PARTS if memory // part]
    others = tuple(other for other in making.types[columns.family] if other != name)
    kept_to = Portion(types=(name,), other_types=others)
    steps = [
        *(
            (label, f"{label} of {title} ({mib} MiB)", replace(kept_to, memory_mib=mib))
            for label, mib in parts
        ),
        *(
            (str(count), f"{count} whole {title}", replace(kept_to, count=count))
            for count in WHOLE
            if count <= most
        ),
    ]
    for label, text, portion in steps:
        spelling = making.families[columns.family].spell(portion)
        if not isinstance(spelling, Refusal):
            yield replace(_asked(text, spelling, making), device=title, portion=label)


def _asked(text: str, spelling: Spelling, making: Making) -> Asked:
    return made(
        words.slug(text.partition(" (")[0]),
        "Ladder",
        text,
        dict(spelling.requests),
        making,
        annotations=dict(spelling.annotations),
    )


def _plain(cpu: str, memory: str, making: Making) -> Asked:
    text = f"cpu={cpu} memory={memory}"
    amounts = {"cpu": parse(cpu), "memory": parse(memory)}
    return made(words.slug(text), "Ladder", text, amounts, making, annotations={})
