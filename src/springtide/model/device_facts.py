"""What a device selector may ask of one device: its driver, attributes and capacities.

The names of attributes and capacities are full, `domain/name`: whoever reads a device gives the names
that were written without a domain the driver's. List attributes are not represented.
"""

from collections.abc import Mapping

import msgspec

from springtide.base.errors import SpringtideError
from springtide.base.quantity import Quantity


class Version(msgspec.Struct, frozen=True, gc=False):
    """The value of a version attribute: a semantic version, in the words of the driver."""

    text: str


class DeviceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One device as its driver describes it."""

    driver: str
    attributes: Mapping[str, bool | int | str | Version] = {}
    capacity: Mapping[str, Quantity] = {}
    allows_multiple: bool = False


class SelectorFault(SpringtideError):
    """A selector does not compile, or it cannot be evaluated on this device."""
