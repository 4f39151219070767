"""Whether a node that has joined has the devices that it was simulated with (device-profile contract §4).

Only stable fields count, position by position. More than was promised is as good; anything less, or other,
is a mismatch that says what differs.
"""

from enum import StrEnum

import msgspec

from springtide.model.device import Device, Inventory, nameless


class Outcome(StrEnum):
    """What is found when a node registers."""

    VERIFIED = "Verified"
    EXCEEDS = "Exceeds"
    MISMATCH = "Mismatch"


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What was found; `differences` are those that make it a mismatch, for people."""

    outcome: Outcome
    differences: tuple[str, ...] = ()


_AMOUNTS = ("memory_mib", "cores", "slots")
_KINDS = ("type", "mode", "numa", "mig_profiles", "links", "network")
_WITHOUT_VALUES = frozenset({"mig_profiles", "links"})


def verified(promised: Inventory, found: Inventory) -> Verification:
    """Return what becomes of a node that has registered these devices."""
    one, other = nameless(promised).devices, nameless(found).devices
    differences = [
        text
        for position, (wanted, has) in enumerate(zip(one, other, strict=False))
        for text in _differences(position, wanted, has, count=len(one))
    ]
    if len(other) < len(one):
        differences.append(f"{len(other)} devices, {len(one)} promised")
    if differences:
        return Verification(outcome=Outcome.MISMATCH, differences=tuple(differences))
    is_equal = len(one) == len(other) and all(
        getattr(wanted, name) == getattr(has, name)
        for wanted, has in zip(one, other, strict=True)
        for name in _AMOUNTS
    )
    return Verification(outcome=Outcome.VERIFIED if is_equal else Outcome.EXCEEDS)


def _differences(position: int, wanted: Device, has: Device, *, count: int) -> list[str]:
    less = [name for name in _AMOUNTS if getattr(has, name) < getattr(wanted, name)]
    other = [
        name for name in _KINDS if _told(has, name, count=count) != _told(wanted, name, count=count)
    ]
    return [
        f"{name} of device {position} differs"
        if name in _WITHOUT_VALUES
        else f"{name} of device {position} is {getattr(has, name)}, {getattr(wanted, name)} promised"
        for name in (*less, *other)
    ]


def _told(device: Device, name: str, *, count: int) -> object:
    """Return a field, but for links to devices beyond those promised."""
    if name != "links":
        return getattr(device, name)
    return tuple(pair for pair in device.links if int(pair[0]) < count)
