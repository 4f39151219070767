"""Values of an application's own, which its members share beside the status: small texts under a folder.

A discovery has one folder. The value of the discovery itself has an empty subkey; an empty text is no value.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

CUSTOM: Final = "custom"
PATH_BYTES_MAX: Final = 80
"""So long may domain, name and subkey be together: as long as a ConfigMap can name it."""
VALUES_MAX: Final = 256
"""So many values has one folder."""
VALUE_BYTES_MAX: Final = 16 << 10
"""So long is one value."""


class Folder(msgspec.Struct, frozen=True, kw_only=True, gc=False, order=True):
    """Where the values of one discovery lie; without `has_target` all workloads of an environment share it."""

    name: str
    domain: str = CUSTOM
    has_target: bool = True


class ValueKey(msgspec.Struct, frozen=True, gc=False):
    """One value of a folder."""

    folder: Folder
    subkey: str = ""


def misnamed(key: ValueKey) -> str:
    """Return what is wrong with the name of a value, as a sentence; empty if nothing is."""
    folder = key.folder
    for field, name in (("name", folder.name), ("domain", folder.domain)):
        if not name or "/" in name or name.startswith("."):
            return (
                f'"{name}" is no {field} of a discovery: write one without slashes that begins '
                "with no dot."
            )
    parts = key.subkey.split("/") if key.subkey else []
    if any(not each or each.startswith(".") for each in parts):
        return (
            f'"{key.subkey}" is no subkey: write parts that begin with no dot, '
            "with one slash between two of them."
        )
    size = len(f"{folder.domain}{folder.name}{key.subkey}".encode())
    if size > PATH_BYTES_MAX:
        return (
            f'"{folder.name}/{key.subkey}" and its domain have {size} bytes; '
            f"shorten them to {PATH_BYTES_MAX}."
        )
    return ""


def oversized(key: ValueKey, text: str) -> str:
    """Return what is wrong with a text as the value of a key, as a sentence; empty if nothing is."""
    size = len(text.encode())
    if size > VALUE_BYTES_MAX:
        return (
            f'The value of "{key.folder.name}/{key.subkey}" has {size} bytes; '
            f"keep it within {VALUE_BYTES_MAX}, and larger things elsewhere."
        )
    return ""


def crowded(key: ValueKey) -> str:
    """Return why a folder takes no other key."""
    return (
        f'"{key.folder.name}" has {VALUES_MAX} values, which is the most; '
        f'delete one before "{key.subkey}" is added.'
    )


def within(values: Mapping[str, str]) -> dict[str, str]:
    """Return of what lies in a folder as much as is told: the first by name, none that is too long."""
    kept = [
        (subkey, text)
        for subkey, text in sorted(values.items())
        if text and len(text.encode()) <= VALUE_BYTES_MAX
    ]
    return dict(kept[:VALUES_MAX])
