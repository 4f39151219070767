"""MIG: which profile a request gets on a card, and where it sits.

The smallest profile with enough memory that still has a free legal placement is taken. Small shapes
are placed from the high end, others from the low end, which keeps room for the large ones.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from springtide.model.device import MigPlacement, MigProfile

MODE: Final = "mig"

_FROM_THE_HIGH_END: Final = ("1g.", "3g.")
_LISTS_MAX: Final = 1024


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """A profile at a placement of one card."""

    profile: MigProfile
    placement: MigPlacement


def select(
    profiles: tuple[MigProfile, ...], occupied: Sequence[MigPlacement], *, memory_mib: int
) -> Instance | None:
    """Return the instance that a request for this memory gets, or None if none is left."""
    for profile, placements in _options(profiles):
        if profile.memory_mib < memory_mib:
            continue
        for placement in placements:
            if not any(placement.overlaps(other) for other in occupied):
                return Instance(profile=profile, placement=placement)
    return None


@lru_cache(maxsize=_LISTS_MAX)
def _options(
    profiles: tuple[MigProfile, ...],
) -> tuple[tuple[MigProfile, tuple[MigPlacement, ...]], ...]:
    """Return the profiles from small to large, each with its placements in order of preference."""
    named = {profile.name: profile for profile in reversed(profiles)}
    by_size = sorted(profiles, key=lambda profile: (profile.memory_mib, profile.slices))
    return tuple((profile, _preferred(named[profile.name])) for profile in by_size)


def _preferred(profile: MigProfile) -> tuple[MigPlacement, ...]:
    sign = -1 if profile.name.startswith(_FROM_THE_HIGH_END) else 1
    return tuple(sorted(profile.placements, key=lambda placement: sign * placement.start))
