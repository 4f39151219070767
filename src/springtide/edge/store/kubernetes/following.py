"""Follows what the members of a workload share in a cluster, and keeps the own pod as it should be.

Watches that never end by themselves, that of values only where they are wanted, and a read of the status every so often, by which all that was
told is confirmed: a watch that has gone silent would not be noticed for minutes. After a gap everything that
can be read at once is read, so that nothing old is told while the watches catch up.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Never, TypeVar

import msgspec

from springtide.edge.cluster import (
    CONFIG_MAP,
    LEASE,
    Added,
    Change,
    Cluster,
    Interrupted,
    Kind,
    Scope,
    Updated,
)
from springtide.edge.store.errors import StoreFault
from springtide.edge.store.kubernetes.access import KubernetesAccess
from springtide.edge.store.kubernetes.faults import translated
from springtide.edge.store.kubernetes.hearing import Copy, Hearing, Stream
from springtide.edge.store.kubernetes.lock import Lock
from springtide.edge.store.kubernetes.pace import Pace
from springtide.edge.store.kubernetes.records import RecordsMap
from springtide.edge.store.kubernetes.seat import Seat, pod_kind
from springtide.edge.store.kubernetes.status import StatusMap
from springtide.edge.store.kubernetes.telling import Telling
from springtide.edge.store.kubernetes.values import ValuesMap
from springtide.edge.store.looking import Looking
from springtide.edge.store.port import MEMBERS_S_MIN
from springtide.model.config_map import ConfigMap
from springtide.model.lease import Lease
from springtide.wire.k8s.replica_pods import ReplicaPod

T = TypeVar("T")

WAIT_S_MIN: Final = 0.001
"""Timers may go off a little early, and would do so again and again."""


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """What the members of one workload share, as one of them reaches it."""

    seat: Seat
    status: StatusMap
    records: RecordsMap
    lock: Lock
    values: ValuesMap
    looking: Looking


class Following:
    """One follower's watches."""

    def __init__(
        self,
        cluster: Cluster,
        access: KubernetesAccess,
        *,
        shared: Shared,
        hearing: Hearing,
        telling: Telling,
        pace: Pace,
    ) -> None:
        self._cluster = cluster
        self._access = access
        self._shared = shared
        self._hearing = hearing
        self._telling = telling
        self._pace = pace
        self._news = asyncio.Event()
        self._doubt = asyncio.Event()

    async def run(self) -> Never:
        """Follow until cancelled."""
        access, hearing = self._access, self._hearing
        status, records = access.named(access.status.name), access.named(access.records.name)
        async with asyncio.TaskGroup() as group:
            for work in (
                self._follow(Stream.PODS, pod_kind(access), self._hear_pod, access.pods),
                self._follow(Stream.STATUS, CONFIG_MAP, hearing.status.hear, status),
                self._follow(Stream.RECORDS, CONFIG_MAP, hearing.records.hear, records),
                self._follow(Stream.LOCK, LEASE, self._hear_lock, access.named(access.names.lock)),
                self._follow_values(),
                self._look_anew(),
                self._tell(),
                self._confirm(),
                self._publish(),
            ):
                group.create_task(work)
        raise AssertionError("what is followed never ends")

    async def _follow(
        self, stream: Stream, kind: Kind[T], hear: Callable[[Change[T]], None], scope: Scope
    ) -> Never:
        async def deliver(change: Change[T]) -> None:
            hear(change)
            if self._hearing.note(stream, change):
                self._doubt.set()
            if isinstance(change, Interrupted):
                self._telling.away(str(change.fault))
            self._news.set()

        await self._cluster.follow(kind, deliver, scope=scope)

    async def _follow_values(self) -> Never:
        """Follow the values as soon as some are wanted."""
        await self._shared.looking.until_other(frozenset())
        hearing, scope = self._hearing, self._access.named(self._access.values.name)
        hearing.want_values()
        await self._follow(Stream.VALUES, CONFIG_MAP, hearing.values.hear, scope)

    async def _look_anew(self) -> Never:
        looking, folders = self._shared.looking, self._shared.looking.folders
        while True:
            await looking.until_other(folders)
            folders = looking.folders
            self._news.set()

    def _hear_pod(self, change: Change[ReplicaPod]) -> None:
        self._hearing.hear_pod(change)
        if isinstance(change, Added | Updated):
            self._shared.seat.see(change.record)

    def _hear_lock(self, change: Change[Lease]) -> None:
        self._hearing.hear_lock(change, self._pace.now_s())

    async def _tell(self) -> Never:
        while True:
            again_s = self._telling.tell(self._pace.now_s())
            await self._waited(self._news, again_s)

    async def _confirm(self) -> Never:
        """Read the status every so often, and all of it when everything is heard again."""
        pace, hearing = self._pace, self._hearing
        while True:
            has_doubt = await self._waited(self._doubt, pace.now_s() + pace.confirm_again_s)
            if has_doubt:
                # Watches that go on first tell what was missed.
                await pace.pause(MEMBERS_S_MIN)
            while hearing.is_whole and not await self._is_confirmed(all_of_it=has_doubt):
                has_doubt = True
                await pace.before_again()

    async def _is_confirmed(self, *, all_of_it: bool) -> bool:
        why = await self._fault_of(self._read_all if all_of_it else self._read_status)
        if why:
            self._telling.away(why)
        else:
            self._telling.confirm(self._pace.now_s())
            self._news.set()
        return not why

    async def _read_status(self) -> None:
        await _read_anew(self._hearing.status, self._shared.status.read)

    async def _read_all(self) -> None:
        await self._read_status()
        await _read_anew(self._hearing.records, self._shared.records.read)
        if self._hearing.has_values:
            await _read_anew(self._hearing.values, self._shared.values.read)
        await self._shared.lock.read()

    async def _publish(self) -> Never:
        """Write on the own pod what it does not say, whoever has changed it."""
        seat = self._shared.seat
        while True:
            await seat.due.wait()
            seat.due.clear()
            if await self._fault_of(seat.publish):
                seat.due.set()
            await self._pace.before_again()

    async def _fault_of(self, work: Callable[[], Awaitable[None]]) -> str:
        """Do something, and return why it was not done, empty if it was."""
        limit_s = self._pace.answer_s_max
        try:
            async with asyncio.timeout(limit_s):
                with translated():
                    await work()
        except StoreFault as fault:
            return str(fault)
        except TimeoutError:
            return f"The API server gave no answer within {limit_s:g} s."
        return ""

    async def _waited(self, event: asyncio.Event, until_s: float | None) -> bool:
        """Wait for an event, or until it is so late; return whether it came."""
        left_s = None if until_s is None else max(WAIT_S_MIN, until_s - self._pace.now_s())
        try:
            async with asyncio.timeout(left_s):
                await event.wait()
        except TimeoutError:
            return False
        event.clear()
        return True


async def _read_anew(copy: Copy, read: Callable[[], Awaitable[ConfigMap | None]]) -> None:
    changes = copy.changes
    copy.read(await read(), changes_before=changes)
