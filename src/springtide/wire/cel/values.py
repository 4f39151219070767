"""Quantities and versions as they travel through an expression: as tagged bytes.

Equal bytes are equal values, so the library's own `==` and `in` are right: a quantity is its number of
nano units, a version is written without the build part, which takes no part in comparisons. The tag is
no UTF-8, so that no conversion makes a text of one.
"""

from typing import Final

from springtide.base import quantity as quantities
from springtide.base.quantity import NANO, Quantity
from springtide.model.device_facts import Version
from springtide.wire.cel import versions

_QUANTITY: Final = b"\xffq"
_VERSION: Final = b"\xffv"
_TAG_LENGTH: Final = 2
_NAMES: Final = {_QUANTITY: "kubernetes.Quantity", _VERSION: "kubernetes.Semver"}

Carried = bool | int | str | bytes


def carried(value: bool | int | str | Version) -> Carried:  # noqa: FBT001
    """Return an attribute's value as expressions see it."""
    return carried_version(value.text) if isinstance(value, Version) else value


def carried_quantity(value: Quantity) -> bytes:
    """Return a quantity as expressions see it."""
    return _QUANTITY + str(value.nano).encode()


def carried_version(text: str, is_lenient: bool = False) -> bytes:  # noqa: FBT001, FBT002
    """Return a version as expressions see it, or raise ValueError."""
    return _VERSION + versions.parse(text, is_lenient=is_lenient).text.encode()


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
    if _tag(left) == _tag(right) == _QUANTITY:
        first, second = _nano(left), _nano(right)
        return (first > second) - (first < second)
    if _tag(left) == _tag(right) == _VERSION:
        return versions.compare(_version(left), _version(right))
    raise _mismatch("compareTo", left, right)


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
    return _quantity_of(_nano(left) + _nano(right))


def subtract(left: bytes, right: bytes | int) -> bytes:
    """Return the difference of a quantity and a quantity or number."""
    return _quantity_of(_nano(left) - _nano(right))


def is_integer(value: bytes) -> bool:
    """Return whether a quantity is a whole number of 64 bits."""
    units, rest = divmod(_nano(value), NANO)
    return rest == 0 and quantities.INT64_MIN <= units <= quantities.INT64_MAX


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
    return _version(value).numbers[0]


def minor(value: bytes) -> int:
    """Return the second number of a version."""
    return _version(value).numbers[1]


def patch(value: bytes) -> int:
    """Return the third number of a version."""
    return _version(value).numbers[2]


def _tag(value: bytes) -> bytes:
    return bytes(value[:_TAG_LENGTH])


def _nano(value: bytes | int) -> int:
    if isinstance(value, int):
        return value * NANO
    if _tag(value) != _QUANTITY:
        raise _mismatch("quantity function", value)
    return int(value[_TAG_LENGTH:])


def _quantity_of(nano: int) -> bytes:
    return _QUANTITY + str(nano).encode()


def _version(value: bytes) -> versions.Numbers:
    if _tag(value) != _VERSION:
        raise _mismatch("version function", value)
    return versions.parse(value[_TAG_LENGTH:].decode())


def _mismatch(function: str, *values: bytes) -> TypeError:
    names = ", ".join(_NAMES.get(_tag(value), "bytes") for value in values)
    return TypeError(f"no such overload: {function}({names})")
