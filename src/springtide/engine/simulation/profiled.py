"""Which device profile describes a node that has registered nothing, and what it promises.

The profile that the node names in an annotation, else the one that its group names, else the only one
whose selector matches its labels. One that is missing, ambiguous or degraded is a refusal with its
reason.
"""

from collections.abc import Sequence
from typing import Final

from springtide.engine.placement.unregistered import PROFILE
from springtide.model.device import Inventory
from springtide.model.node import Node
from springtide.model.profile import DeviceProfile, describing, opposed
from springtide.model.refusal import Refusal

PROFILE_ANNOTATION: Final = "springtide.io/device-profile"


def profile_of(
    node: Node, profiles: Sequence[DeviceProfile], *, named: str = ""
) -> DeviceProfile | Refusal | None:
    """Return the profile of a node, whose group may name one; None if there is none."""
    wanted = node.annotations.get(PROFILE_ANNOTATION) or named
    if wanted:
        found = next((profile for profile in profiles if profile.name == wanted), None)
        return found or _unusable(f"missing: {wanted} is named, but is not in the input")
    matching = describing(profiles, node.labels)
    if opposed(matching):
        names = ", ".join(profile.name for profile in matching)
        return _unusable(f"ambiguous: {names} all select this node and differ")
    return matching[0] if matching else None


def promised(family: str, profile: DeviceProfile | Refusal | None) -> Inventory | Refusal | None:
    """Return what the profile promises: what real nodes last registered, if any did."""
    if not isinstance(profile, DeviceProfile):
        return profile
    if profile.degraded:
        return _unusable(f"degraded: {profile.name}: {profile.degraded}")
    devices = {**dict(profile.devices), **dict(profile.last_verified)}.get(family)
    return Inventory(family, devices) if devices else None


def _unusable(why: str) -> Refusal:
    return Refusal(rule="profile", reasons=(f"{PROFILE} {why}",), is_unresolvable=True)
