"""The lock: a Lease that whoever leads renews, and a token that grows whenever it changes hands.

A token is larger than that of the Lease and than the one in the status, so it grows also where somebody has
deleted the Lease. Whoever could not renew in time holds it no longer, by its own clock, and asks nobody.
"""

import math
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.edge.cluster import Cluster, NotFound
from springtide.edge.cluster import errors as cluster_faults
from springtide.edge.store.errors import Conflict
from springtide.edge.store.fencing import FenceReason
from springtide.edge.store.kubernetes.pace import Pace
from springtide.edge.store.kubernetes.sighting import Sighting, token_of
from springtide.edge.store.kubernetes.status import StatusMap
from springtide.edge.store.port import Held
from springtide.edge.store.told import ABSENT
from springtide.model.lease import Lease

TRIES_MAX: Final = 3
"""So often a renewal is tried over what others have written on the Lease without taking it."""
RELEASED_S: Final = 1
"""A Lease that nobody holds is given no long life."""


class _Holding(msgspec.Struct, frozen=True, kw_only=True):
    lease: Lease
    ttl_s: float
    renewed_s: float

    @property
    def token(self) -> int:
        return token_of(self.lease)

    @property
    def ends_s(self) -> float:
        return self.renewed_s + self.ttl_s

    def is_still(self, lease: Lease | None) -> bool:
        """Return whether a Lease is the one that is held, whatever else was written on it."""
        if lease is None:
            return False
        return (lease.holder, token_of(lease)) == (self.lease.holder, self.token)


class Lock:
    """One Lease, and what we hold of it."""

    def __init__(
        self, cluster: Cluster, lease: Lease, *, fence: StatusMap, sighting: Sighting, pace: Pace
    ) -> None:
        self._cluster = cluster
        self._empty = lease
        self._fence = fence
        self._sighting = sighting
        self._pace = pace
        self._token_max = 0
        self._holding: _Holding | None = None

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Take the lock if it is free."""
        found = await self.read()
        if not self._sighting.is_free(self._pace.now_s()):
            return None
        token = 1 + max(token_of(found), await self._fence.token(), self._token_max)
        asked_s, now = self._pace.now_s(), self._pace.written_now()
        wanted = replace(
            found or self._empty,
            holder=holder,
            duration_s=math.ceil(ttl_ms / 1000),
            acquired=now,
            renewed=now,
            transitions=token,
        )
        lease = await self._taken(wanted, asked_s)
        if lease is None:
            return None
        self._token_max = token
        if not await self._fence.claim(token):
            # Somebody was leader and is no longer, all since the fence was read.
            await self._free(lease)
            return None
        self._holding = _Holding(lease=lease, ttl_s=ttl_ms / 1000, renewed_s=asked_s)
        return Held(token)

    async def renew(self, token: int) -> None:
        """Hold the lock for another while."""
        holding = self._held(token)
        for _ in range(TRIES_MAX):
            asked_s = self._pace.now_s()
            try:
                lease = await self._cluster.replace_lease(
                    replace(holding.lease, renewed=self._pace.written_now())
                )
            except (cluster_faults.Conflict, NotFound):
                holding = replace(holding, lease=await self._still(holding))
                continue
            self._sighting.see(lease, asked_s)
            self._holding = replace(holding, lease=lease, renewed_s=asked_s)
            return
        raise self._deposed()

    async def release(self, token: int) -> None:
        """Give the lock back, if this token still holds it."""
        holding, self._holding = self._holding, None
        if holding is None or holding.token != token:
            return
        found = await self.read()
        if found is not None and holding.is_still(found):
            await self._free(found)

    async def check(self, token: int) -> None:
        """Raise Conflict unless this token holds the lock, or is none and nobody does."""
        holding = self._holding if self._holding and self._holding.token == token else None
        if holding is not None:
            self._held(token)
        found = await self.read()
        is_free = self._sighting.is_free(self._pace.now_s())
        now = ABSENT if is_free else token_of(found)
        if now != token or (holding is not None and not holding.is_still(found)):
            raise self._deposed()

    def _held(self, token: int) -> _Holding:
        holding = self._holding
        if holding is None or holding.token != token or self._pace.now_s() >= holding.ends_s:
            raise self._deposed()
        return holding

    async def _still(self, holding: _Holding) -> Lease:
        """Return the Lease as it is, if we still hold it."""
        found = await self.read()
        if found is None or not holding.is_still(found):
            self._holding = None
            raise self._deposed()
        return found

    async def read(self) -> Lease | None:
        """Return the Lease as it is now, and take notice of it."""
        try:
            found = await self._cluster.read_lease(self._empty.namespace, self._empty.name)
        except NotFound:
            found = None
        self._sighting.see(found, self._pace.now_s())
        return found

    async def _taken(self, lease: Lease, asked_s: float) -> Lease | None:
        """Write a Lease, and return it; None if somebody was faster."""
        write = self._cluster.replace_lease if lease.version else self._cluster.create_lease
        try:
            taken = await write(lease)
        except (cluster_faults.Conflict, NotFound):
            return None
        self._sighting.see(taken, asked_s)
        return taken

    async def _free(self, lease: Lease) -> None:
        freed = replace(lease, holder="", duration_s=RELEASED_S, renewed=self._pace.written_now())
        await self._taken(freed, self._pace.now_s())

    def _deposed(self) -> Conflict:
        words = "The lock ran out, and somebody else may hold it."
        return Conflict(FenceReason.DEPOSED, words)
