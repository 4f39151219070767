"""Who leads: this process alone, or the one beside the kube-scheduler that holds its lease.

HAMi's scheduler runs in one pod with a kube-scheduler and decides if that one does. So the lease is only
read here: its holder begins with the name of the pod it is in. How long a lease lasts is counted from when
its renewal was seen, on this machine's clock.
"""

import asyncio
from typing import Final, Never, Protocol

from springtide.apps.extender.log import Log
from springtide.apps.extender.scheduling import Scheduling
from springtide.base.clock import Clock
from springtide.edge.cluster import (
    LEASE,
    Added,
    Change,
    Cluster,
    Deleted,
    Interrupted,
    Scope,
    Updated,
)
from springtide.model.lease import Lease

LOOK_S: Final = 1.0
_SEPARATOR: Final = "_"


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


class Beside:
    """The process leads while the kube-scheduler beside it does."""

    def __init__(
        self,
        cluster: Cluster,
        scheduling: Scheduling,
        *,
        lease: Lease,
        host: str,
        clock: Clock,
        log: Log,
    ) -> None:
        self._cluster = cluster
        self._scheduling = scheduling
        self._lease = lease
        self._host = host
        self._clock = clock
        self._log = log
        self._seen: Lease | None = None
        self._until_s = 0.0

    async def run(self) -> Never:
        """Watch the lease, and the time."""
        scope = Scope(namespace=self._lease.namespace, fields=f"metadata.name={self._lease.name}")
        async with asyncio.TaskGroup() as group:
            group.create_task(self._cluster.follow(LEASE, self._hear, scope=scope))
            group.create_task(self._look())
        raise AssertionError("what is followed never ends")

    async def release(self) -> None:
        """Stop to lead; the lease is the other program's."""
        self._scheduling.lead(is_leading=False)

    async def _hear(self, change: Change[Lease]) -> None:
        match change:
            case Added(record=lease) | Updated(record=lease):
                self._see(lease)
            case Deleted():
                self._seen = None
            case Interrupted(fault=fault):
                self._log("interrupted", is_fault=True, kind="leases", message=str(fault))
            case _:
                pass
        self._judge()

    def _see(self, lease: Lease) -> None:
        # A listing after a gap may show the renewal that was seen before.
        if self._seen is None or self._seen.renewed != lease.renewed:
            self._until_s = self._clock.monotonic_s() + lease.duration_s
        self._seen = lease

    async def _look(self) -> Never:
        while True:
            await asyncio.sleep(LOOK_S)
            self._judge()

    def _judge(self) -> None:
        is_held = self._seen is not None and _is_ours(self._seen.holder, self._host)
        is_fresh = self._clock.monotonic_s() < self._until_s
        self._scheduling.lead(is_leading=is_held and is_fresh)


def _is_ours(holder: str, host: str) -> bool:
    """Return whether a holder is of this host: kube-scheduler appends a number of its own to it."""
    return holder.partition(_SEPARATOR)[0] == host
