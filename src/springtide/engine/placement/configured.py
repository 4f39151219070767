"""A family's part of HAMi's device configuration, read into the family's own record.

Keys of other readers are ignored; a value of another type is a fault that names the field.
"""

from typing import TypeVar

import msgspec

from springtide.base.errors import SpringtideError

ConfigT = TypeVar("ConfigT")


class InvalidConfig(SpringtideError):
    """A field of the device configuration that cannot be what it is."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason[:1].lower()}{reason[1:]}. Correct the value.")


def read_section(section: object, record: type[ConfigT], *, name: str) -> ConfigT:
    """Return the record in a decoded section of this name, or raise InvalidConfig."""
    try:
        return msgspec.convert(section, record)
    except msgspec.ValidationError as fault:
        what, _, where = str(fault).partition(" - at `$")
        raise InvalidConfig(f"{name}{where.rstrip('`')}", what) from fault
