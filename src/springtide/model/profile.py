"""Device profiles: what the nodes of a group carry before any of them exists.

A profile states the stable fields of a registration, position by position. The node that it
describes is expected whole: every device healthy, nothing in use.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from springtide.base.selectors import Selector
from springtide.model.device import Device

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
    to zero is simulated with it.
    """

    name: str
    selector: Selector
    devices: FamilyDevices
    last_verified: FamilyDevices = ()
    homogeneity: Homogeneity = Homogeneity.STRICT
    on_mismatch: OnMismatch = OnMismatch.QUARANTINE
    registration_timeout_s: float = 600.0

    def describes(self, labels: Mapping[str, str]) -> bool:
        """Return whether a node with these labels is one of those described."""
        return self.selector.matches(labels)


def describing(
    profiles: Sequence[DeviceProfile], labels: Mapping[str, str]
) -> tuple[DeviceProfile, ...]:
    """Return the profiles that describe a node with these labels."""
    return tuple(each for each in profiles if each.describes(labels))


def disagreeing(profiles: Sequence[DeviceProfile]) -> tuple[DeviceProfile, ...]:
    """Return the profiles that promise other devices than the first of them."""
    return tuple(each for each in profiles if each.devices != profiles[0].devices)
