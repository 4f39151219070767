"""The site of a store in memory: what the members of a workload share, and what runs out there."""

import asyncio
from typing import Final

import msgspec

from springtide.base.clock import Clock
from springtide.edge.store.errors import Conflict, Oversized
from springtide.edge.store.fencing import FenceReason, Offer, Stored, refusal
from springtide.edge.store.port import Held
from springtide.edge.store.told import ABSENT, LockRead, StatusDamaged, StatusRead
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.status import Status
from springtide.model.replicas.values import (
    VALUES_MAX,
    Folder,
    ValueKey,
    crowded,
    misnamed,
    oversized,
    within,
)

MEMBER_TTL_S: Final = 15.0


class _Lock(msgspec.Struct, frozen=True, kw_only=True):
    token: int
    holder: str
    ttl_s: float
    ends_s: float


class MemorySite:
    """What the members of a workload share."""

    def __init__(self, clock: Clock, *, member_ttl_s: float = MEMBER_TTL_S) -> None:
        self.clock = clock
        self.member_ttl_s = member_ttl_s
        self.revision = 0
        self.wipes = 0
        self.status: StatusRead | StatusDamaged = StatusRead(status=None)
        self.records: dict[int, Record] = {}
        self.costs: dict[str, int] = {}
        self._is_down = False
        self._lock: _Lock | None = None
        self._members: dict[str, tuple[Member, float]] = {}
        self._numbers: dict[str, int] = {}
        self._values: dict[Folder, dict[str, str]] = {}
        self._waiting: list[asyncio.Event] = []

    @property
    def is_down(self) -> bool:
        """Return whether nobody reaches the site."""
        return self._is_down

    @is_down.setter
    def is_down(self, is_down: bool) -> None:
        self._is_down = is_down
        self.wake()

    @property
    def next_end_s(self) -> float:
        """Return when the next membership or the lock runs out."""
        now_s = self.clock.monotonic_s()
        ends_s = [each for _, each in self._members.values()]
        if self._lock is not None:
            ends_s.append(self._lock.ends_s)
        return min((each for each in ends_s if each > now_s), default=now_s + self.member_ttl_s)

    def wake(self) -> None:
        """Let everybody look who waits for a change."""
        for each in self._waiting:
            each.set()

    async def changed(self, *, timeout_s: float) -> None:
        """Wait until something has changed, or for so long."""
        woken = asyncio.Event()
        self._waiting.append(woken)
        try:
            async with asyncio.timeout(timeout_s):
                await woken.wait()
        except TimeoutError:
            pass
        finally:
            self._waiting.remove(woken)

    @property
    def lock(self) -> LockRead:
        """Return who holds the lock now."""
        lock = self._lock
        if lock is None or self.clock.monotonic_s() >= lock.ends_s:
            return LockRead(ABSENT)
        return LockRead(lock.token, lock.holder)

    @property
    def members(self) -> tuple[Member, ...]:
        """Return who lives now."""
        now_s = self.clock.monotonic_s()
        living = [each for each, ends_s in self._members.values() if now_s < ends_s]
        found = [
            msgspec.structs.replace(each, deletion_cost=self.costs.get(each.name, 0))
            for each in living
        ]
        return tuple(sorted(found, key=lambda each: (each.id, each.name)))

    def enter(self, member: Member) -> None:
        """Register a member, or keep it alive."""
        before = self._members.get(member.name)
        if before is None or self.clock.monotonic_s() >= before[1]:
            # A number goes with the lease that it hung on.
            self._numbers.pop(member.name, None)
        self._members[member.name] = (member, self.clock.monotonic_s() + self.member_ttl_s)
        if before is None or before[0] != member:
            self._changed()

    def remove(self, member: Member) -> None:
        """Take this run of a member out."""
        before = self._members.get(member.name)
        if before is not None and before[0].boot == member.boot:
            del self._members[member.name]
            self._changed()

    @property
    def numbers(self) -> dict[int, str]:
        """Return who holds which number now."""
        living = {each.name for each in self.members}
        held = sorted((index, name) for name, index in self._numbers.items() if name in living)
        return dict(held)

    def claim(self, member: Member, index: int) -> bool:
        """Give a living member a number that nobody else holds."""
        if self.numbers.get(index, member.name) != member.name:
            return False
        self.enter(member)
        if self._numbers.get(member.name) != index:
            self._numbers[member.name] = index
            self._changed()
        return True

    def values(self, folder: Folder) -> dict[str, str]:
        """Return what lies in a folder."""
        return within(self._values.get(folder, {}))

    def put_value(self, key: ValueKey, text: str) -> int:
        """Write a value, or delete it."""
        values = self._values.setdefault(key.folder, {})
        why = misnamed(key) or oversized(key, text)
        if not why and text and key.subkey not in values and len(values) >= VALUES_MAX:
            why = crowded(key)
        if why:
            raise Oversized(why)
        if text:
            values[key.subkey] = text
        else:
            values.pop(key.subkey, None)
        return self._changed()

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
        self._numbers = {}
        self._values = {}
        self.revision = 0
        self.wipes += 1
        self.wake()

    def _changed(self) -> int:
        self.revision += 1
        self.wake()
        return self.revision

    def _ends(self, ttl_s: float) -> float:
        return self.clock.monotonic_s() + ttl_s
