"""Device profiles: what the nodes of a group carry before any of them exists.

A profile states the stable fields of a registration, position by position. The node that it
describes is expected whole: every device healthy, nothing in use.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.selectors import Selector
from springtide.model.device import Device

MISMATCH_TAINT: Final = "springtide.io/device-mismatch"
"""On a node that is kept from pods, because it is not what its profile promised."""

FamilyDevices = tuple[tuple[str, tuple[Device, ...]], ...]
"""Family name to its devices by position, in the order of the document."""


class Homogeneity(StrEnum):
    """What the sampled nodes of a group must agree on before one stands for all."""

    STRICT = "Strict"
    MINIMUM = "Minimum"
    MAJORITY = "Majority"


class OnMismatch(StrEnum):
    """What becomes of a node that registers other devices than its profile promised."""

    QUARANTINE = "Quarantine"
    REPORT = "Report"
    ADOPT = "Adopt"


class DeviceProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The devices of the nodes that `selector` matches.

    `last_verified` is what real nodes last registered, empty if none did; a group that later drops
    to zero is simulated with it. `degraded` says what is wrong with real nodes, empty if nothing is: no node
    is expected of such a profile.
    """

    name: str
    selector: Selector
    devices: FamilyDevices
    last_verified: FamilyDevices = ()
    homogeneity: Homogeneity = Homogeneity.STRICT
    on_mismatch: OnMismatch = OnMismatch.QUARANTINE
    registration_timeout_s: float = 600.0
    degraded: str = ""

    def describes(self, labels: Mapping[str, str]) -> bool:
        """Return whether a node with these labels is one of those described."""
        return self.selector.matches(labels)


def describing(
    profiles: Sequence[DeviceProfile], labels: Mapping[str, str]
) -> tuple[DeviceProfile, ...]:
    """Return the profiles that describe a node with these labels."""
    return tuple(each for each in profiles if each.describes(labels))


def opposed(profiles: Sequence[DeviceProfile]) -> tuple[tuple[str, str], ...]:
    """Return each profile that promises other devices than another one of these, with that one's name.

    All of them describe one node: what contradicts itself is of no use to anybody.
    """
    others = [each.name for each in profiles if each.devices != profiles[0].devices]
    if not others:
        return ()
    first = profiles[0].name
    return ((first, others[0]), *((name, first) for name in others))


def unknown_vendor(profile: DeviceProfile, known: Iterable[str]) -> str:
    """Return why a profile is of no use where only these families are known, empty if it is."""
    families = tuple(known)
    unknown = next((name for name, _ in profile.devices if name not in families), None)
    if unknown is None:
        return ""
    return f"vendor {unknown!r} is not known; use one of {', '.join(families)}."


UNKNOWN_NUMA: Final = -2
"""Devices of unknown NUMA nodes stand on nodes of their own, which are numbered down from here."""


def on_unknown_numa(device: Device, position: int) -> Device:
    """Return the device on a NUMA node that is nobody else's, because its own is not known."""
    return replace(device, numa=UNKNOWN_NUMA - position)


def has_known_numa(device: Device) -> bool:
    """Return whether something is promised about the device's NUMA node."""
    return device.numa > UNKNOWN_NUMA


MODES: Final = ("hami-core", "mig", "mps")
"""How a profile can say that devices are shared."""


def unsayable(devices: FamilyDevices) -> str:
    """Return what of these devices no profile can promise, as a part of a sentence; empty if it can all."""
    for family, own in devices:
        for position, device in enumerate(own):
            sizes = (device.slots, device.memory_mib, device.cores)
            if device.mode not in ("", *MODES):
                return f'{family} device {position} is shared in the unknown mode "{device.mode}"'
            if not device.type or min(sizes) < 0:
                return f"{family} device {position} has no type, or a size below 0"
    return ""


class ConditionType(StrEnum):
    """What is said of a profile."""

    VALID = "Valid"
    VERIFIED = "Verified"
    DEGRADED = "Degraded"


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is said of a profile; `status` is True, False or Unknown, `changed` when it became so."""

    type: str
    status: str
    reason: str
    message: str
    observed_generation: int = 0
    changed: str = ""


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """One node that is not as its profile promised, and why."""

    node: str
    reason: str
    message: str


class ProfileStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What has been found out about a profile.

    `observed_nodes` counts the nodes that it describes; of those, so many register what it promised, or more,
    and so many do not, the first of which are `mismatches`. `last_verified` was so for this generation.
    """

    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0
    observed_nodes: int = 0
    verified_nodes: int = 0
    mismatched_nodes: int = 0
    mismatches: tuple[Mismatch, ...] = ()
    last_verified: FamilyDevices = ()
    verified_generation: int | None = None


class StoredProfile(msgspec.Struct, frozen=True, kw_only=True):
    """A profile as it stands in a cluster; without `profile` it cannot be read, and `fault` says why."""

    name: str
    uid: str
    generation: int
    version: str
    profile: DeviceProfile | None
    fault: str = ""
    status: ProfileStatus = ProfileStatus()
