"""Quantities and versions as they travel through an expression: as tagged bytes.

Equal bytes are equal values, so that the library's own `in` is right, and greater bytes are greater values
(`encoding`). A version leaves out the build part, which takes no part in comparisons. A quantity that is
whole, but that Kubernetes does not see as an integer because of how it was written (`1000m`), carries a
mark; comparisons look past it (`ordering`). The tag is no UTF-8, so that no conversion makes a text of one.
"""

from functools import lru_cache
from typing import Final

from springtide.base import quantity as quantities
from springtide.base.quantity import NANO, Quantity
from springtide.model.device_facts import Version
from springtide.wire.cel import encoding, versions

MARK: Final = b"~"
CACHE_ENTRIES: Final = 4096

_QUANTITY: Final = b"\xffq"
_VERSION: Final = b"\xffv"
_TAG_LENGTH: Final = 2
_NAMES: Final = {_QUANTITY: "kubernetes.Quantity", _VERSION: "kubernetes.Semver"}

Carried = bool | int | str | bytes


def carried(value: bool | int | str | Version) -> Carried:  # noqa: FBT001
    """Return an attribute's value as expressions see it, or raise ValueError."""
    if isinstance(value, Version):
        return carried_version(value.text)
    return carried_text(value) if isinstance(value, str) else value


def carried_text(text: str) -> str:
    """Return a text that the library takes as it is, or raise ValueError: it would cut it at a NUL."""
    if "\0" in text:
        raise ValueError("a text with a NUL character cannot be looked at")
    if not text.isascii():
        text.encode()
    return text


@lru_cache(maxsize=CACHE_ENTRIES)
def carried_quantity(value: Quantity) -> bytes:
    """Return a quantity as expressions see it."""
    is_plain = value.nano % NANO or value.as_int64() is not None
    return _QUANTITY + encoding.of_number(value.nano) + (b"" if is_plain else MARK)


@lru_cache(maxsize=CACHE_ENTRIES)
def carried_version(text: str, is_lenient: bool = False) -> bytes:  # noqa: FBT001, FBT002
    """Return a version as expressions see it, or raise ValueError."""
    return _VERSION + encoding.of_version(versions.parse(text, is_lenient=is_lenient))


def quantity(text: str) -> bytes:
    """Read a quantity."""
    try:
        return carried_quantity(quantities.parse(text))
    except quantities.MalformedQuantity as fault:
        raise ValueError(fault.reason) from fault


def is_quantity(text: str) -> bool:
    """Return whether a text is a quantity."""
    try:
        quantities.parse(text)
    except quantities.MalformedQuantity:
        return False
    return True


def is_version(text: str, is_lenient: bool = False) -> bool:  # noqa: FBT001, FBT002
    """Return whether a text is a version."""
    try:
        versions.parse(text, is_lenient=is_lenient)
    except ValueError:
        return False
    return True


def compare(left: bytes, right: bytes) -> int:
    """Return -1, 0 or 1 for two quantities or two versions."""
    if _tag(left) != _tag(right) or _tag(left) not in _NAMES:
        raise _mismatch("compareTo", left, right)
    first, second = left.rstrip(MARK), right.rstrip(MARK)
    return (first > second) - (first < second)


def is_greater(left: bytes, right: bytes) -> bool:
    """Return whether the left quantity or version is above the right one."""
    return compare(left, right) > 0


def is_less(left: bytes, right: bytes) -> bool:
    """Return whether the left quantity or version is below the right one."""
    return compare(left, right) < 0


def sign(value: bytes) -> int:
    """Return -1, 0 or 1 for a quantity below, at or above zero."""
    nano = _nano(value)
    return (nano > 0) - (nano < 0)


def add(left: bytes, right: bytes | int) -> bytes:
    """Return the sum of a quantity and a quantity or number."""
    return carried_quantity(_quantity(left).add(_quantity(right)))


def subtract(left: bytes, right: bytes | int) -> bytes:
    """Return the difference of a quantity and a quantity or number."""
    return carried_quantity(_quantity(left).subtract(_quantity(right)))


def is_integer(value: bytes) -> bool:
    """Return whether a quantity is a whole number of 64 bits, and written as one."""
    found = _quantity(value)
    return found.nano % NANO == 0 and found.as_int64() is not None


def as_integer(value: bytes) -> int:
    """Return a quantity's whole units, if nothing is lost."""
    if not is_integer(value):
        raise ValueError("cannot convert value to integer")
    return _nano(value) // NANO


def as_float(value: bytes) -> float:
    """Return the nearest floating-point number."""
    nano = _nano(value)
    try:
        return nano / NANO
    except OverflowError:
        return float("inf") if nano > 0 else float("-inf")


def major(value: bytes) -> int:
    """Return the first number of a version."""
    return _version_part(value, 0)


def minor(value: bytes) -> int:
    """Return the second number of a version."""
    return _version_part(value, 1)


def patch(value: bytes) -> int:
    """Return the third number of a version."""
    return _version_part(value, 2)


def _tag(value: bytes) -> bytes:
    return bytes(value[:_TAG_LENGTH])


def _nano(value: bytes) -> int:
    if _tag(value) != _QUANTITY:
        raise _mismatch("quantity function", value)
    return encoding.number(value[_TAG_LENGTH:].rstrip(MARK))


def _quantity(value: bytes | int) -> Quantity:
    if isinstance(value, int):
        return quantities.of(value)
    nano = _nano(value)
    is_plain = nano % NANO == 0 and not value.endswith(MARK)
    return Quantity(nano=nano, scale=0 if is_plain else None)


def _version_part(value: bytes, index: int) -> int:
    if _tag(value) != _VERSION:
        raise _mismatch("version function", value)
    return encoding.version_part(value[_TAG_LENGTH:], index)


def _mismatch(function: str, *values: bytes) -> TypeError:
    names = ", ".join(_NAMES.get(_tag(value), "bytes") for value in values)
    return TypeError(f"no such overload: {function}({names})")
