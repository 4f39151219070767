"""Amounts as people write them."""

from typing import Final

from springtide.base.names import CPU
from springtide.base.quantity import NANO, Format, Quantity

_BYTES: Final = ("memory", "ephemeral-storage", "hugepages-")
_MIB_A_GIB: Final = 1024


def unit_of(name: str) -> str:
    """Return what a resource of nodes is counted in."""
    return "bytes" if name.startswith(_BYTES) else "cores" if name == CPU else ""


def shown(name: str, amount: int) -> str:
    """Return an amount in scheduler units as people write the quantity."""
    nano = amount * (NANO // 1000 if name == CPU else NANO)
    form = Format.BINARY_SI if unit_of(name) == "bytes" else Format.DECIMAL_SI
    return Quantity(nano=nano, format=form).canonical()


def memory(mib: int) -> str:
    """Return device memory in GiB where that is a whole number, otherwise in MiB."""
    if mib and not mib % _MIB_A_GIB:
        return f"{mib // _MIB_A_GIB} GiB"
    return f"{mib} MiB"


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def joined(parts: list[str], *, most: int = 3) -> str:
    """Return the first of many parts, and how many more there are."""
    more = len(parts) - most
    return ", ".join(parts if more <= 0 else [*parts[:most], f"and {more} more"])
