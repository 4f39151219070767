"""Follows the DeviceProfiles of a cluster, and nothing else there.

One that cannot be read is left out until it is mended. A cluster that does not know the kind has none.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Never, TypeAlias, assert_never

from springtide.edge.cluster import (
    PROFILES,
    Added,
    Change,
    Deleted,
    Interrupted,
    Kind,
    NotServed,
    Resumed,
    Skipped,
    Synced,
    Updated,
)
from springtide.edge.lines import Log
from springtide.model.profile import DeviceProfile, StoredProfile
from springtide.wire.crd.profiles import decode_stored_profile

Follow: TypeAlias = Callable[
    [Kind[StoredProfile], Callable[[Change[StoredProfile]], Awaitable[None]]], Awaitable[object]
]
"""Tells what there is and then what changes, until cancelled."""
Learn: TypeAlias = Callable[[tuple[DeviceProfile, ...]], Awaitable[None]]
"""Takes all profiles there are, whenever they have changed."""

_PROFILE: Final = Kind(PROFILES, decode_stored_profile)
_NAME: Final = "deviceprofiles"


class Learning:
    """What profiles there are; `fault` says why nothing is being heard."""

    def __init__(self, learn: Learn, *, log: Log) -> None:
        self._learn = learn
        self._log = log
        self._profiles: dict[str, DeviceProfile] = {}
        self._told: tuple[DeviceProfile, ...] | None = None
        self._is_whole = False
        self.fault = ""

    async def run(self, follow: Follow) -> Never:
        """Follow them until cancelled."""
        await follow(_PROFILE, self._hear)
        raise AssertionError("what is followed never ends")

    async def _hear(self, change: Change[StoredProfile]) -> None:
        match change:
            case Added(record=stored) | Updated(record=stored):
                self._take(stored)
            case Deleted(key=key):
                self._profiles.pop(key, None)
            case Skipped(key=key, why=why):
                self._leave_out(key, why)
            case Interrupted(fault=fault):
                if not self.fault:
                    self._log("interrupted", is_fault=True, kind=_NAME, message=str(fault))
                self.fault = str(fault)
                # A cluster that does not know the kind has none.
                self._is_whole |= isinstance(fault, NotServed)
            case Synced():
                self._is_whole, self.fault = True, ""
            case Resumed():
                self.fault = ""
            case _:
                assert_never(change)
        await self._tell()

    def _take(self, stored: StoredProfile) -> None:
        if stored.profile is None:
            self._leave_out(stored.name, stored.fault)
        else:
            self._profiles[stored.name] = stored.profile

    def _leave_out(self, name: str, why: str) -> None:
        self._profiles.pop(name, None)
        self._log("skipped", is_fault=True, kind=_NAME, object=name, message=why)

    async def _tell(self) -> None:
        """Tell of the profiles once they are whole, and whenever one decides otherwise than before."""
        profiles = tuple(self._profiles[name] for name in sorted(self._profiles))
        if self._is_whole and profiles != self._told:
            self._told = profiles
            await self._learn(profiles)
