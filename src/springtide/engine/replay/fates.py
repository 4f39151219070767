"""What became of a pod, and how that differs from what became of it under another policy."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from springtide.model.device import Share

NOWHERE: Final = -1

Positions = tuple[tuple[str, tuple[int, ...]], ...]
"""By family, the positions of devices on their node, ascending."""


class Change(StrEnum):
    """How the second of two fates differs from the first; a name is public and stays."""

    PLACED = "Placed"
    REFUSED = "Refused"
    NODE = "Node"
    DEVICES = "Devices"


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """Where a pod went: its row, `NOWHERE` if none took it, and its devices there."""

    row: int = NOWHERE
    devices: Positions = ()

    @property
    def is_placed(self) -> bool:
        """Return whether a node took the pod."""
        return self.row != NOWHERE


def fate(row: int, shares: Sequence[tuple[str, Sequence[Share]]]) -> Fate:
    """Return the fate of a pod that holds these shares of a row's devices."""
    devices = (
        (family, tuple(sorted({share.position for share in taken})))
        for family, taken in shares
        if taken
    )
    return Fate(row=row, devices=tuple(sorted(devices)))


def change(first: Fate, second: Fate) -> Change | None:
    """Return how the second differs, None if it does not.

    A pod whose devices are not known under one of them is told apart by its node alone.
    """
    if first.is_placed != second.is_placed:
        return Change.PLACED if second.is_placed else Change.REFUSED
    if first.row != second.row:
        return Change.NODE
    is_known = bool(first.devices) and bool(second.devices)
    return Change.DEVICES if is_known and first.devices != second.devices else None
