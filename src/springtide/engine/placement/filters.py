"""Which devices a pod's annotations allow: lists of ids and of type names to use or to avoid.

An id matches exactly, a type name as a part of the device's type in any case. A list that is absent
or blank does not constrain; the list of devices to avoid applies on top of the list to use.
"""

from collections.abc import Iterable

Names = tuple[str, ...] | None
"""The names of a list, or None where there is no constraint."""


def names_in(value: str | None) -> Names:
    """Return the comma-separated names of an annotation's value; None if absent or blank."""
    if value is None or not value.strip():
        return None
    return tuple(item.strip() for item in value.split(","))


def uuid_ok(device_id: str, *, use: Names, avoid: Names) -> bool:
    """Return whether the lists allow the device with this id."""
    if use is not None and device_id not in use:
        return False
    return avoid is None or device_id not in avoid


def type_ok(model: str, *, use: Names, avoid: Names) -> bool:
    """Return whether the lists allow a device of this type."""
    if use is not None and not _names_part_of(model, use):
        return False
    return avoid is None or not _names_part_of(model, avoid)


def type_matches(word: str, model: str) -> bool:
    """Return whether a device of this type is a candidate for requests for this word."""
    return word.lower() in model.lower()


def _names_part_of(model: str, names: Iterable[str]) -> bool:
    upper = model.upper()
    return any(name and name.upper() in upper for name in names)
