"""Amounts and lists as people write them."""

from typing import Final

_MIB_A_GIB: Final = 1024


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
