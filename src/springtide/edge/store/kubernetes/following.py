"""Follows what the members of a workload share in a cluster, and keeps the own pod as it should be.

Four watches that never end by themselves, and one read of the status every so often, by which all that was
told is confirmed: a watch that has gone silent would not be noticed for minutes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Never, TypeVar

from springtide.edge.cluster import (
    CONFIG_MAP,
    LEASE,
    Change,
    Cluster,
    Interrupted,
    Kind,
    Scope,
)
from springtide.edge.store.errors import StoreFault
from springtide.edge.store.kubernetes.access import KubernetesAccess
from springtide.edge.store.kubernetes.faults import translated
from springtide.edge.store.kubernetes.hearing import Hearing, Stream
from springtide.edge.store.kubernetes.pace import Pace
from springtide.edge.store.kubernetes.seat import Seat, pod_kind
from springtide.edge.store.kubernetes.status import StatusMap
from springtide.edge.store.kubernetes.telling import Telling
from springtide.edge.store.port import CONFIRM_S
from springtide.model.lease import Lease
from springtide.wire.k8s.replica_pods import ReplicaPod

T = TypeVar("T")

READ_S_MAX: Final = 5.0
"""So long a read may take that confirms what was told."""
CONFIRM_AGAIN_S: Final = CONFIRM_S - READ_S_MAX
"""So long after one confirmation the next is asked for."""


class Following:
    """One follower's watches."""

    def __init__(
        self,
        cluster: Cluster,
        access: KubernetesAccess,
        *,
        hearing: Hearing,
        telling: Telling,
        status: StatusMap,
        seat: Seat,
        pace: Pace,
    ) -> None:
        self._cluster = cluster
        self._access = access
        self._hearing = hearing
        self._telling = telling
        self._status = status
        self._seat = seat
        self._pace = pace
        self._news = asyncio.Event()
        self._doubt = asyncio.Event()
        self._due = asyncio.Event()

    async def run(self) -> Never:
        """Follow until cancelled."""
        access = self._access
        self._due.set()
        async with asyncio.TaskGroup() as group:
            for work in (
                self._follow(Stream.PODS, pod_kind(access), self._hear_pod, access.pods),
                self._follow(
                    Stream.STATUS,
                    CONFIG_MAP,
                    self._hearing.hear_status,
                    access.named(access.status.name),
                ),
                self._follow(
                    Stream.RECORDS,
                    CONFIG_MAP,
                    self._hearing.hear_records,
                    access.named(access.records.name),
                ),
                self._follow(Stream.LOCK, LEASE, self._hear_lock, access.named(access.lock)),
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

    def _hear_pod(self, change: Change[ReplicaPod]) -> None:
        self._hearing.hear_pod(change)
        record = getattr(change, "record", None)
        if record is not None and self._seat.is_due(record):
            self._due.set()

    def _hear_lock(self, change: Change[Lease]) -> None:
        self._hearing.hear_lock(change, self._pace.now_s())

    async def _tell(self) -> Never:
        while True:
            again_s = self._telling.tell(self._pace.now_s())
            await self._waited(self._news, again_s)

    async def _confirm(self) -> Never:
        """Read the status every so often, and at once when everything is heard again."""
        while True:
            await self._waited(self._doubt, self._pace.now_s() + CONFIRM_AGAIN_S)
            while self._hearing.is_whole and not await self._is_confirmed():
                await self._pace.before_again()

    async def _is_confirmed(self) -> bool:
        changes = self._hearing.status_changes
        found = await self._tried(self._status.read)
        if isinstance(found, str):
            self._telling.away(found)
            return False
        self._hearing.read_status(found, changes_before=changes)
        self._telling.confirm(self._pace.now_s())
        self._news.set()
        return True

    async def _publish(self) -> Never:
        """Write on the own pod what it does not say, whoever has changed it."""
        while True:
            await self._due.wait()
            self._due.clear()
            if isinstance(await self._tried(self._seat.publish), str):
                self._due.set()
            await self._pace.before_again()

    async def _tried(self, ask: Callable[[], Awaitable[T]]) -> T | str:
        """Return the answer, or why there is none."""
        try:
            async with asyncio.timeout(READ_S_MAX):
                with translated():
                    return await ask()
        except StoreFault as fault:
            return str(fault)
        except TimeoutError:
            return f"The API server gave no answer within {READ_S_MAX:g} s."

    async def _waited(self, event: asyncio.Event, until_s: float | None) -> None:
        """Wait for an event, or until it is so late."""
        left_s = None if until_s is None else max(0.0, until_s - self._pace.now_s())
        try:
            async with asyncio.timeout(left_s):
                await event.wait()
        except TimeoutError:
            return
        event.clear()
