"""Named resource quantities, as the API writes them and as the scheduler counts them.

`Resources` keeps every quantity as written, because device families read spellings. `Amounts` is
what the scheduler compares: cpu in thousandths of a core, everything else in base units, both
rounded away from zero (kube-scheduler's `Resource`).
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from springtide.base.names import CPU
from springtide.base.quantity import Quantity

Resources = tuple[tuple[str, Quantity], ...]
"""Sorted by name, so that equal resource lists are equal tuples."""

Amounts = Mapping[str, int]
"""Resource name to int64 in the scheduler's unit."""

AmountList = tuple[tuple[str, int], ...]
"""Resource names, each at most once, with amounts in the scheduler's unit."""

LISTS_CACHE_ENTRIES: Final = 4096


def amount(name: str, quantity: Quantity) -> int:
    """Return the quantity in the scheduler's unit for this resource."""
    return quantity.milli() if name == CPU else quantity.value()


def amounts(resources: Resources) -> dict[str, int]:
    """Return every quantity in the scheduler's unit."""
    return dict(amount_list(resources))


@lru_cache(maxsize=LISTS_CACHE_ENTRIES)
def amount_list(resources: Resources) -> AmountList:
    """Return every quantity in the scheduler's unit, as pairs; nodes repeat their resources."""
    return tuple((name, amount(name, quantity)) for name, quantity in resources)


def lookup(resources: Resources, name: str) -> Quantity | None:
    """Return the quantity under this name, or None if the name is absent."""
    return next((quantity for key, quantity in resources if key == name), None)
