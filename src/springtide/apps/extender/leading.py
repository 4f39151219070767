"""Who leads: this process alone, the one beside the kube-scheduler that does, or whoever holds a lease.

The rules are `engine.election`'s. Here the lease is watched, read and written, and the time is told.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, Never, Protocol, assert_never

import msgspec

from springtide.apps.extender.log import Log
from springtide.apps.extender.scheduling import Scheduling
from springtide.base.clock import Calendar, Clock
from springtide.edge.cluster import (
    LEASE,
    Added,
    Change,
    Cluster,
    ClusterFault,
    Deleted,
    Interrupted,
    NotFound,
    Scope,
    Updated,
)
from springtide.engine.election import (
    Beside,
    Command,
    Election,
    Event,
    Finished,
    LeaseRead,
    LeaseSeen,
    LeaseUnknown,
    LeaseWritten,
    Led,
    Lost,
    ReadLease,
    Standing,
    Stopped,
    Tick,
    WakeAt,
    WriteLease,
    following,
    standing,
)
from springtide.model.lease import Lease

RELEASE_S_MAX: Final = 5.0
"""So long the end waits for a lease to be given back; after that it runs out by itself."""


class Leading(Protocol):
    """Tells the scheduling whether it leads."""

    async def run(self) -> Never:
        """Go on until cancelled."""
        ...

    async def release(self) -> None:
        """Let others lead, at the end."""
        ...


class Alone:
    """There is only one process, and it leads."""

    def __init__(self, scheduling: Scheduling) -> None:
        self._scheduling = scheduling

    async def run(self) -> Never:
        """Lead."""
        self._scheduling.lead(is_leading=True)
        await asyncio.Event().wait()
        raise AssertionError("nobody sets this event")

    async def release(self) -> None:
        """Stop to lead."""
        self._scheduling.lead(is_leading=False)


class Office(msgspec.Struct, frozen=True, kw_only=True):
    """The lease in question, and what tells the time."""

    namespace: str
    name: str
    clock: Clock
    calendar: Calendar


class _Candidate:
    """What both kinds of candidates share: events come one after the other, and time is one of them."""

    def __init__(
        self, cluster: Cluster, scheduling: Scheduling, *, office: Office, log: Log
    ) -> None:
        self.cluster = cluster
        self.office = office
        self._scheduling = scheduling
        self._log = log
        self._inbox: asyncio.Queue[Event] = asyncio.Queue()
        self._wake_s: float | None = None

    async def run(self) -> Never:
        """Watch the lease, and the time."""
        scope = Scope(namespace=self.office.namespace, fields=f"metadata.name={self.office.name}")
        async with asyncio.TaskGroup() as group:
            group.create_task(self.cluster.follow(LEASE, self._hear, scope=scope))
            group.create_task(self._drive(group))
        raise AssertionError("what is followed never ends")

    def fold(self, event: Event) -> tuple[Command, ...]:
        """Take an event, and return what is to be done."""
        raise NotImplementedError

    async def perform(self, command: ReadLease | WriteLease) -> Event:
        """Do what was asked for, and return what came of it."""
        raise NotImplementedError

    def finish(self) -> None:
        """Know that nothing is left to do."""

    def tell(self, event: Event) -> None:
        """Put an event behind those that wait."""
        self._inbox.put_nowait(event)

    def now_s(self) -> float:
        """Return the time by which leases are judged."""
        return self.office.clock.monotonic_s()

    async def _hear(self, change: Change[Lease]) -> None:
        match change:
            case Added(record=lease) | Updated(record=lease):
                self.tell(LeaseSeen(lease, self.now_s()))
            case Deleted():
                self.tell(LeaseSeen(None, self.now_s()))
            case Interrupted(fault=fault):
                self._log("interrupted", is_fault=True, kind="leases", message=str(fault))
            case _:
                pass

    async def _drive(self, group: asyncio.TaskGroup) -> Never:
        event: Event = Tick(self.now_s())
        while True:
            for command in self.fold(event):
                self._do(command, group)
            event = await self._next()

    async def _next(self) -> Event:
        wait_s = None if self._wake_s is None else max(0.0, self._wake_s - self.now_s())
        try:
            async with asyncio.timeout(wait_s):
                return await self._inbox.get()
        except TimeoutError:
            self._wake_s = None
            return Tick(self.now_s())

    def _do(self, command: Command, group: asyncio.TaskGroup) -> None:
        match command:
            case WakeAt(at_s=at_s):
                self._wake_s = at_s
            case Led():
                self._scheduling.lead(is_leading=True)
            case Lost(why=why):
                self._log("lost", message=why)
                self._scheduling.lead(is_leading=False)
            case ReadLease() | WriteLease():
                group.create_task(self._performed(command))
            case Finished():
                self.finish()
            case _:
                assert_never(command)

    async def _performed(self, command: ReadLease | WriteLease) -> None:
        try:
            async with asyncio.timeout(command.within_s):
                self.tell(await self.perform(command))
        except (ClusterFault, TimeoutError) as fault:
            self._log("lease_unknown", is_fault=True, message=str(fault) or "no answer in time")
            self.tell(LeaseUnknown(self.now_s()))


class BesideScheduler(_Candidate):
    """The process leads while the kube-scheduler of its host does, whose lease is only read."""

    def __init__(
        self,
        cluster: Cluster,
        scheduling: Scheduling,
        *,
        office: Office,
        host: str,
        log: Log,
    ) -> None:
        super().__init__(cluster, scheduling, office=office, log=log)
        self._state = Beside(host=host)
        scheduling.holds = lambda: self._state.is_leading(self.now_s())

    def fold(self, event: Event) -> tuple[Command, ...]:
        """Take an event, and return what is to be done."""
        assert isinstance(event, LeaseSeen | Tick), event
        self._state, commands = following.step(self._state, event)
        return commands

    async def release(self) -> None:
        """Stop to lead; the lease is the other program's."""
        self._state = Beside(host=self._state.host)


class Elected(_Candidate):
    """The process stands for a lease of its own, with its replicas."""

    def __init__(
        self,
        cluster: Cluster,
        scheduling: Scheduling,
        *,
        office: Office,
        identity: str,
        log: Log,
    ) -> None:
        super().__init__(cluster, scheduling, office=office, log=log)
        self._election = Election(namespace=office.namespace, name=office.name, identity=identity)
        self._state = Standing()
        self._finished = asyncio.Event()
        scheduling.holds = lambda: self._state.is_leading(self._election, self.now_s())

    def fold(self, event: Event) -> tuple[Command, ...]:
        """Take an event, and return what is to be done."""
        self._state, commands = standing.step(self._election, self._state, event)
        return commands

    def finish(self) -> None:
        """Know that the lease is given back."""
        self._finished.set()

    async def perform(self, command: ReadLease | WriteLease) -> Event:
        """Read or write the lease."""
        if isinstance(command, ReadLease):
            return LeaseRead(await self._read(), self.now_s())
        return LeaseWritten(await self._write(command), self.now_s())

    async def release(self) -> None:
        """Give the lease back, so that another one need not wait until it runs out."""
        self.tell(Stopped(self.now_s()))
        with suppress(TimeoutError):
            async with asyncio.timeout(RELEASE_S_MAX):
                await self._finished.wait()

    async def _read(self) -> Lease | None:
        try:
            return await self.cluster.read_lease(self.office.namespace, self.office.name)
        except NotFound:
            return None

    def _write(self, command: WriteLease) -> Coroutine[Any, Any, Lease]:
        now = datetime.fromtimestamp(self.office.calendar.unix_s(), UTC)
        text = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        lease = msgspec.structs.replace(
            command.lease, renewed=text, acquired=text if command.takes else command.lease.acquired
        )
        write = self.cluster.replace_lease if lease.version else self.cluster.create_lease
        return write(lease)
