"""Wishes from the store in which the members meet: the status, their labels, and the durable records.

Records outlive their members, so the floor is known also while members are gone. What the store has not
confirmed for a while is unknown.
"""

from typing import Never

from springtide.base.clock import Calendar, Clock
from springtide.edge.store import (
    Away,
    Confirmed,
    LockRead,
    MembersRead,
    NumbersRead,
    RecordsRead,
    StatusDamaged,
    StatusRead,
    Store,
    StoreTold,
    ValuesRead,
)
from springtide.engine.replicas.executing import Wish
from springtide.engine.replicas.members import numbers
from springtide.engine.replicas.phases import exported
from springtide.engine.replicas.protection import floor
from springtide.engine.replicas.status_checks import complaint
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.rules import Limits
from springtide.model.replicas.status import Status


class StoreWishes:
    """Follows a store, and says what is wanted from what it told last."""

    def __init__(
        self, store: Store, workload: str, *, clock: Clock, calendar: Calendar, age_s_max: float
    ) -> None:
        self._store = store
        self._workload = workload
        self._clock = clock
        self._calendar = calendar
        self._age_s_max = age_s_max
        self._status: Status | None = None
        self._members: tuple[Member, ...] = ()
        self._records: dict[int, Record] | None = None
        self._confirmed_s: float | None = None
        self._why = "the store has told nothing yet"

    async def follow(self) -> Never:
        """Follow the store until cancelled."""
        await self._store.follow(self._take)

    async def wish(self) -> Wish:
        """Return what is wanted now."""
        age_s = self._age_s()
        if age_s is None or age_s > self._age_s_max:
            return Wish(why=self._why)
        status, records = self._status, self._records
        expect = None
        if status is not None:
            expect = exported(status, int(self._calendar.unix_s() * 1000))
        ready = self._ready()
        return Wish(
            generation=None if status is None else status.generation,
            expect=expect,
            floor=None if records is None else floor(records, ready),
            ready=None if records is None else ready | frozenset(records),
            why=self._why if status is None else "",
        )

    def _take(self, told: StoreTold) -> None:
        match told:
            case Away(why=why):
                self._why = f"the store is away: {why}"
                return
            case StatusRead(status=status):
                self._take_status(status)
            case StatusDamaged(why=why):
                self._why = f"the stored status cannot be read: {why}"
            case MembersRead(members=members):
                self._members = tuple(each for each in members if each.target == self._workload)
            case RecordsRead(records=records):
                self._records = records
            case Confirmed() | LockRead() | ValuesRead() | NumbersRead():
                pass
        self._confirmed_s = self._clock.monotonic_s()

    def _take_status(self, status: Status | None) -> None:
        if status is None:
            self._status, self._why = None, "there is no status"
            return
        now_ms = int(self._calendar.unix_s() * 1000)
        wrong = complaint(status, limits=Limits(), now_ms=now_ms)
        if wrong:
            self._why = f"the stored status is not followed: {wrong}"
        else:
            self._status = status

    def _ready(self) -> frozenset[int]:
        place = numbers(self._members)
        return frozenset(place[each.name] for each in self._members if each.is_ready)

    def _age_s(self) -> float | None:
        if self._confirmed_s is None:
            return None
        return self._clock.monotonic_s() - self._confirmed_s
