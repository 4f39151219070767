"""A store in memory: a site that all members of one process share, and what each of them has of it.

Time is the event loop's, so that it may be virtual. A member that is cut off hears nothing and reaches
nothing until it is let in again; its membership and its lock run out meanwhile, as anywhere.
"""

import asyncio
from typing import Final, Never

import msgspec

from springtide.base.clock import Clock
from springtide.edge.store.errors import Conflict, Unreachable
from springtide.edge.store.fencing import FenceReason, Offer, Stored, refusal
from springtide.edge.store.port import CONFIRM_S, Deliver, Held
from springtide.edge.store.told import (
    ABSENT,
    Away,
    Confirmed,
    LockRead,
    MembersRead,
    RecordsRead,
    StatusDamaged,
    StatusRead,
)
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.status import Status

MEMBER_TTL_S: Final = 15.0
LOOK_S: Final = 0.1
"""So often a site is looked at for what has run out, and a member for what has changed."""

_NOTHING: Final = StatusRead(status=None)


class _Lock(msgspec.Struct, frozen=True, kw_only=True):
    token: int
    holder: str
    ttl_s: float
    ends_s: float


class MemorySite:
    """What the members of a workload share."""

    def __init__(self, clock: Clock, *, member_ttl_s: float = MEMBER_TTL_S) -> None:
        self._clock = clock
        self.member_ttl_s = member_ttl_s
        self.revision = 0
        self.wipes = 0
        self.status: StatusRead | StatusDamaged = StatusRead(status=None)
        self.records: dict[int, Record] = {}
        self.costs: dict[str, int] = {}
        self.is_down = False
        self._lock: _Lock | None = None
        self._members: dict[str, tuple[Member, float]] = {}

    @property
    def lock(self) -> LockRead:
        """Return who holds the lock now."""
        lock = self._lock
        if lock is None or self._clock.monotonic_s() >= lock.ends_s:
            return LockRead(ABSENT)
        return LockRead(lock.token, lock.holder)

    @property
    def members(self) -> tuple[Member, ...]:
        """Return who lives now."""
        now_s = self._clock.monotonic_s()
        living = [each for each, ends_s in self._members.values() if now_s < ends_s]
        found = [
            msgspec.structs.replace(each, deletion_cost=self.costs.get(each.name, 0))
            for each in living
        ]
        return tuple(sorted(found, key=lambda each: (each.id, each.name)))

    def enter(self, member: Member) -> None:
        """Register a member, or keep it alive."""
        before = self._members.get(member.name)
        self._members[member.name] = (member, self._clock.monotonic_s() + self.member_ttl_s)
        if before is None or before[0] != member:
            self._changed()

    def remove(self, member: Member) -> None:
        """Take this run of a member out."""
        before = self._members.get(member.name)
        if before is not None and before[0].boot == member.boot:
            del self._members[member.name]
            self._changed()

    def take(self, holder: str, *, ttl_s: float) -> Held | None:
        """Take the lock if it is free."""
        if self.lock.token != ABSENT:
            return None
        token = self._changed()
        self._lock = _Lock(token=token, holder=holder, ttl_s=ttl_s, ends_s=self._ends(ttl_s))
        return Held(token)

    def renew(self, token: int) -> None:
        """Hold the lock for another while."""
        lock = self._lock
        if lock is None or self.lock.token != token:
            raise Conflict(FenceReason.DEPOSED, "The lock ran out, and somebody else may hold it.")
        self._lock = msgspec.structs.replace(lock, ends_s=self._ends(lock.ttl_s))

    def release(self, token: int) -> None:
        """Free the lock."""
        if self.lock.token == token:
            self._lock = None
            self._changed()

    def put(self, offer: Offer) -> int:
        """Write a status as `fencing` says."""
        found = self.status
        status = found.status if isinstance(found, StatusRead) else None
        stored = Stored(token=self.lock.token, revision=found.revision, status=status)
        reason = refusal(stored, offer)
        if reason is not None:
            raise Conflict(reason, f"The status was not written ({reason}).")
        self.status = StatusRead(status=offer.status, revision=self._changed())
        return self.revision

    def replace(self, status: Status | None) -> None:
        """Write or delete the status as somebody who asks nobody."""
        revision = self._changed()
        self.status = StatusRead(status=status, revision=revision if status else ABSENT)

    def damage(self, why: str) -> None:
        """Put something in the place of the status that nobody can read."""
        self.status = StatusDamaged(why=why, revision=self._changed())

    def record(self, index: int, record: Record | None) -> None:
        """Write or delete a record."""
        if record is None:
            self.records.pop(index, None)
        else:
            self.records[index] = record
        self._changed()

    def wipe(self) -> None:
        """Lose everything, as a store whose disk was replaced."""
        self.status = StatusRead(status=None)
        self.records = {}
        self._lock = None
        self._members = {}
        self.revision = 0
        self.wipes += 1

    def _changed(self) -> int:
        self.revision += 1
        return self.revision

    def _ends(self, ttl_s: float) -> float:
        return self._clock.monotonic_s() + ttl_s


class MemoryStore:
    """What one member has of a site."""

    def __init__(
        self, site: MemorySite, *, replicas: int | None = None, delay_s: float = 0.0
    ) -> None:
        self._site = site
        self._replicas = replicas
        self._delay_s = delay_s
        self._member: Member | None = None
        self.is_cut = False

    async def follow(self, deliver: Deliver) -> Never:
        """Tell what changes, at the site's next look."""
        told = _Told(deliver)
        while True:
            if self._is_away:
                told.away("The store does not answer.")
            else:
                if self._member is not None:
                    self._site.enter(self._member)
                told.tell(self._site)
            await asyncio.sleep(LOOK_S)

    async def join(self, member: Member) -> None:
        """Register this member."""
        self._member = member
        await self._reach()
        self._site.enter(member)

    async def leave(self) -> None:
        """Take this member out."""
        member, self._member = self._member, None
        await self._reach()
        if member is not None:
            self._site.remove(member)

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Take the lock if it is free."""
        await self._reach()
        return self._site.take(holder, ttl_s=ttl_ms / 1000)

    async def renew(self, token: int) -> None:
        """Hold the lock for another while."""
        await self._reach()
        self._site.renew(token)

    async def release(self, token: int) -> None:
        """Give the lock back."""
        await self._reach()
        self._site.release(token)

    async def put_status(self, offer: Offer) -> int:
        """Write the status."""
        await self._reach()
        return self._site.put(offer)

    async def read_status(self) -> StatusRead | StatusDamaged:
        """Return the status."""
        await self._reach()
        return self._site.status

    async def put_record(self, index: int, record: Record) -> None:
        """Write a record."""
        await self._reach()
        self._site.record(index, record)

    async def delete_record(self, index: int, boot: str) -> None:
        """Delete the record of this run."""
        await self._reach()
        kept = self._site.records.get(index)
        if kept is not None and kept.boot == boot:
            self._site.record(index, None)

    async def set_cost(self, member: str, cost: int) -> None:
        """Note what a pod costs."""
        await self._reach()
        self._site.costs[member] = cost

    async def replicas(self) -> int | None:
        """Return what was said when the store was made."""
        await self._reach()
        return self._replicas

    @property
    def _is_away(self) -> bool:
        return self.is_cut or self._site.is_down

    async def _reach(self) -> None:
        await asyncio.sleep(self._delay_s)
        if self._is_away:
            raise Unreachable("The store does not answer.")


class _Told:
    """What was told last, so that nothing is told twice."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._wipes: int | None = None
        self._seen: tuple[object, ...] = ()
        self._looks_left = 0
        self._is_away = False

    def away(self, why: str) -> None:
        """Tell once that the store is away; all is told again when it is back."""
        if not self._is_away:
            self._is_away, self._seen = True, ()
            self._deliver(Away(why))

    def tell(self, site: MemorySite) -> None:
        """Tell what differs from what was told."""
        was_away, self._is_away = self._is_away, False
        if self._wipes not in (None, site.wipes):
            self._seen = (_NOTHING, *self._seen[1:])
            self._deliver(_NOTHING)
        self._wipes = site.wipes
        wholes = (
            site.status,
            MembersRead(site.members),
            RecordsRead(dict(site.records)),
            site.lock,
        )
        before = (*self._seen, *(None,) * len(wholes))
        for whole, told in zip(wholes, before, strict=False):
            if whole != told:
                self._deliver(whole)
        self._seen = wholes
        self._looks_left -= 1
        if was_away or self._looks_left <= 0:
            self._looks_left = round(CONFIRM_S / LOOK_S)
            self._deliver(Confirmed())
