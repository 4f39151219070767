"""Follows the DeviceProfiles of a cluster, and nothing else there.

One that cannot be read is left out until it is mended. A cluster that does not know the kind has none.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Never, TypeAlias

import msgspec

from springtide.apps.extender.log import Log
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
from springtide.model.profile import DeviceProfile
from springtide.wire.crd.profiles import API_VERSION, KIND, read_device_profile
from springtide.wire.k8s.parts import plain, without_nulls
from springtide.wire.origin import Origin

Follow: TypeAlias = Callable[
    [Kind[DeviceProfile], Callable[[Change[DeviceProfile]], Awaitable[None]]], Awaitable[object]
]
"""Tells what there is and then what changes, until cancelled."""
Learn: TypeAlias = Callable[[tuple[DeviceProfile, ...]], Awaitable[None]]
"""Takes all profiles there are, whenever they have changed."""

SOURCE: Final = "the cluster"


class Learning:
    """What profiles there are; `is_whole` once all of them were told."""

    def __init__(self, learn: Learn, *, log: Log) -> None:
        self._learn = learn
        self._log = log
        self._profiles: dict[str, DeviceProfile] = {}
        self._told: tuple[DeviceProfile, ...] | None = None
        self.is_whole = False
        self.fault = ""

    async def run(self, follow: Follow) -> Never:
        """Follow them until cancelled."""
        await follow(Kind(PROFILES, stored_profile), self._hear)
        raise AssertionError("what is followed never ends")

    async def _hear(self, change: Change[DeviceProfile]) -> None:
        match change:
            case Added(record=profile, key=key) | Updated(record=profile, key=key):
                self._profiles[key] = profile
            case Deleted(key=key):
                self._profiles.pop(key, None)
            case Skipped(key=key, why=why):
                self._profiles.pop(key, None)
                self._log("skipped", is_fault=True, kind="deviceprofiles", object=key, message=why)
            case Synced():
                self.is_whole, self.fault = True, ""
            case Interrupted(fault=fault):
                if not self.fault:
                    self._log(
                        "interrupted", is_fault=True, kind="deviceprofiles", message=str(fault)
                    )
                self.fault = str(fault)
                self.is_whole |= isinstance(fault, NotServed)
            case Resumed():
                self.fault = ""
        await self._tell()

    async def _tell(self) -> None:
        """Tell of the profiles once they are whole, and whenever one decides otherwise than before."""
        profiles = tuple(self._profiles[key] for key in sorted(self._profiles))
        if not self.is_whole or profiles == self._told:
            return
        self._told = profiles
        await self._learn(profiles)


def stored_profile(raw: msgspec.Raw) -> DeviceProfile:
    """Return a profile as the API server has it, or raise InvalidDocument."""
    value: Any = without_nulls(plain(raw))
    # The items of a list need not say what they are.
    document: Mapping[str, Any] = {"apiVersion": API_VERSION, "kind": KIND, **value}
    return read_device_profile(document, origin=Origin(source=SOURCE))
