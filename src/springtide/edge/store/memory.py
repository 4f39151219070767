"""A store in memory: what one member has of a site that all members of one process share.

Time is the event loop's, so that it may be virtual. A member that is cut off hears nothing and reaches
nothing until it is let in again; its membership and its lock run out meanwhile, as anywhere.
"""

import asyncio
from collections.abc import Callable, Set
from typing import Final, Never, Protocol, TypeAlias

from springtide.edge.store.errors import Unreachable
from springtide.edge.store.fencing import Offer
from springtide.edge.store.looking import Looking
from springtide.edge.store.memory_site import MemorySite
from springtide.edge.store.port import CONFIRM_S, Deliver, Held
from springtide.edge.store.told import (
    Away,
    Confirmed,
    LockRead,
    MembersRead,
    NumbersRead,
    RecordsRead,
    StatusDamaged,
    StatusRead,
    ValuesRead,
)
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.values import Folder, ValueKey

LOOK_S: Final = 0.1
"""So long changes of a site are gathered before a member is told."""
KEEPS: Final = 3
"""So often within its time is a member kept alive."""

Replicas: TypeAlias = Callable[[], int | None]
CONFIRM_AHEAD_S: Final = 5.0
_NOTHING: Final = StatusRead(status=None)
_NO_VALUES: Final = ValuesRead({})


class MemoryStore:
    """What one member has of a site."""

    def __init__(
        self, site: MemorySite, *, replicas: Replicas | int | None = None, delay_s: float = 0.0
    ) -> None:
        self._site = site
        self._replicas = replicas
        self._delay_s = delay_s
        self._member: Member | None = None
        self._is_cut = False
        self._looking = Looking()

    @property
    def is_cut(self) -> bool:
        """Return whether this member alone does not reach the site."""
        return self._is_cut

    @is_cut.setter
    def is_cut(self, is_cut: bool) -> None:
        self._is_cut = is_cut
        self._site.wake()

    async def follow(self, deliver: Deliver) -> Never:
        """Tell what changes, and what has run out."""
        clock, told = self._site.clock, Telling(deliver, self._looking)
        keep_s = self._site.member_ttl_s / KEEPS
        while True:
            if self._is_away:
                told.away("The store does not answer.")
            else:
                if self._member is not None:
                    self._site.enter(self._member)
                told.tell(self._site, now_s=clock.monotonic_s())
            wait_s = self._site.next_end_s - clock.monotonic_s()
            await self._site.changed(timeout_s=min(wait_s, keep_s))
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

    def look_at(self, folders: Set[Folder]) -> None:
        """Tell the values of these folders."""
        self._looking.at(folders)
        self._site.wake()

    async def put_value(self, key: ValueKey, text: str) -> int:
        """Write a value."""
        await self._reach()
        return self._site.put_value(key, text)

    async def claim_index(self, index: int) -> bool:
        """Take a number for the member that joined."""
        await self._reach()
        assert self._member is not None, "a member joins before it claims a number"
        return self._site.claim(self._member, index)

    async def set_cost(self, member: str, cost: int) -> None:
        """Note what a pod costs."""
        await self._reach()
        self._site.costs[member] = cost
        self._site.wake()

    async def replicas(self) -> int | None:
        """Return what was said when the store was made, or is said now."""
        await self._reach()
        return self._replicas() if callable(self._replicas) else self._replicas

    @property
    def _is_away(self) -> bool:
        return self.is_cut or self._site.is_down

    async def _reach(self) -> None:
        await asyncio.sleep(self._delay_s)
        if self._is_away:
            raise Unreachable("The store does not answer.")


class Wholes(Protocol):
    """All that there is at one moment."""

    @property
    def status(self) -> StatusRead | StatusDamaged:
        """Return the status."""
        ...

    @property
    def members(self) -> tuple[Member, ...]:
        """Return who lives."""
        ...

    @property
    def records(self) -> dict[int, Record]:
        """Return all records."""
        ...

    @property
    def lock(self) -> LockRead:
        """Return who holds the lock."""
        ...

    @property
    def numbers(self) -> dict[int, str]:
        """Return who holds which number."""
        ...

    def values(self, folder: Folder) -> dict[str, str]:
        """Return what lies in a folder."""
        ...

    @property
    def wipes(self) -> int:
        """Return how often all was lost."""
        ...


class Telling:
    """What was told last, so that nothing is told twice."""

    def __init__(self, deliver: Deliver, looking: Looking) -> None:
        self._deliver = deliver
        self._looking = looking
        self._wipes: int | None = None
        self._seen: tuple[object, ...] = ()
        self._confirm_s = 0.0
        self._is_away = False

    def away(self, why: str) -> None:
        """Tell once that the store is away; all is told again when it is back."""
        if not self._is_away:
            self._is_away, self._seen = True, ()
            self._deliver(Away(why))

    def tell(self, site: Wholes, *, now_s: float) -> None:
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
            NumbersRead(site.numbers),
            ValuesRead({each: site.values(each) for each in sorted(self._looking.folders)}),
        )
        unseen = (*(None,) * (len(wholes) - 1), _NO_VALUES)
        before = (*self._seen, *unseen[len(self._seen) :])
        for whole, told in zip(wholes, before, strict=True):
            if whole != told:
                self._deliver(whole)
        self._seen = wholes
        if was_away or now_s >= self._confirm_s:
            self._confirm_s = now_s + CONFIRM_S - CONFIRM_AHEAD_S
            self._deliver(Confirmed())
