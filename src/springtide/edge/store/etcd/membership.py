"""This member in etcd: all its keys hang on one lease that is kept alive, and are written when they change."""

import asyncio
from contextlib import suppress
from typing import Final, Never

import msgspec

from springtide.edge.store.errors import Denied, Malformed, StoreFault, Unreachable
from springtide.edge.store.etcd import shapes
from springtide.edge.store.etcd.leases import Leases
from springtide.edge.store.etcd.mirror import Mirror
from springtide.edge.store.etcd.refusals import LeaseGone
from springtide.edge.store.etcd.shapes import TxnAnswer
from springtide.model.replicas.member import Member
from springtide.model.replicas.workload import Workload
from springtide.wire.replica_keys import member_keys
from springtide.wire.replica_members import write_member

KEEP_PARTS: Final = 3
"""So many times in its life a lease is kept alive."""
_TRIES_MAX: Final = 2


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Where members are found, and what is said of all of this workload."""

    workload: Workload
    discovery: str
    type_id: int


class Membership:
    """One member, if it has joined."""

    def __init__(self, leases: Leases, found: Found, *, ttl_s: float) -> None:
        self._leases = leases
        self._found = found
        self._ttl_s = ttl_s
        self._wanted: Member | None = None
        self._written: dict[str, bytes] = {}
        self._written_at = 0
        self._lease = 0
        self._writing = asyncio.Lock()
        self._is_lost = asyncio.Event()

    async def join(self, member: Member) -> None:
        """Write what changed of a member; if it cannot be, it is written when it is kept."""
        self._wanted = member
        await self._write()

    async def leave(self) -> None:
        """Take this run out: its keys go with its lease, those of a later run stay."""
        self._wanted = None
        async with self._writing:
            lease, self._lease, self._written = self._lease, 0, {}
            if lease:
                await self._leases.revoke(lease)

    async def claim(self, key: str) -> bool:
        """Take a key for the lease of this member, unless it is another one's."""
        assert self._wanted is not None, "a member joins before it claims a number"
        own = self._wanted.name
        await self._write()
        lease = self._lease
        if not lease:
            raise Unreachable("The lease of this member ran out; it is granted anew.")
        put = shapes.put(key, own, lease=lease)
        taking = shapes.txn([put], compare=[shapes.is_absent(key)], otherwise=[shapes.get(key)])
        try:
            answer = await self._leases.ask(taking, TxnAnswer)
            if answer.succeeded:
                return True
            (kept,) = answer.found[0].kvs
            return kept.value == own.encode() and await self._is_kept(key, put, kept)
        except LeaseGone as fault:
            self._forget(lease)
            raise Unreachable("The lease of this member ran out; it is granted anew.") from fault

    async def _is_kept(self, key: str, put: shapes.Fields, kept: shapes.KeyValue) -> bool:
        """Hang a key that this member has already on the lease that it has now."""
        again = shapes.txn([put], compare=[shapes.is_at(key, kept.mod_revision)])
        return (await self._leases.ask(again, TxnAnswer)).succeeded

    def lost(self) -> None:
        """Know that etcd knows nothing of this member any more."""
        self._lease, self._written = 0, {}
        self._is_lost.set()

    def seen(self, mirror: Mirror) -> None:
        """Look whether somebody deleted a key of this member; if so, it is written again."""
        if any(mirror.lacks(key, self._written_at) for key in self._written):
            self._written = {}
            self._is_lost.set()

    async def keep(self) -> Never:
        """Stay a member: keep the lease, and write all again if it ran out."""
        while True:
            self._is_lost.clear()
            # Whoever joins was told; what others say is heard nevertheless.
            with suppress(Denied, Malformed):
                await self._keep()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._ttl_s / KEEP_PARTS):
                    await self._is_lost.wait()

    async def _keep(self) -> None:
        if self._wanted is None:
            return
        lease = self._lease
        if lease and not await self._leases.keep(lease):
            self._forget(lease)
        await self._write()

    async def _write(self) -> None:
        async with self._writing:
            for _ in range(_TRIES_MAX):
                try:
                    return await self._written_once()
                except LeaseGone:
                    self._forget(self._lease)
        raise Unreachable("The lease of this member ran out as soon as it was granted.")

    async def _written_once(self) -> None:
        if self._wanted is None:
            return
        wanted = self._documents(self._wanted)
        if wanted == self._written and self._lease:
            return
        lease = self._lease = self._lease or await self._leases.grant(self._ttl_s)
        puts = [
            shapes.put(key, value, lease=lease)
            for key, value in wanted.items()
            if self._written.get(key) != value
        ]
        gone = [shapes.delete(key) for key in self._written if key not in wanted]
        try:
            answer = await self._leases.ask(shapes.txn([*puts, *gone]), TxnAnswer)
        except StoreFault:
            # Nobody knows what is written by now, so all is written next time.
            self._written = {}
            raise
        # Meanwhile the lease may have been found to be gone; then this is gone as well.
        self._written_at = answer.header.revision
        self._written = wanted if lease == self._lease else {}

    def _forget(self, lease: int) -> None:
        if lease == self._lease:
            self._lease, self._written = 0, {}

    def _documents(self, member: Member) -> dict[str, bytes]:
        found = self._found
        value = write_member(member, found.workload, type_id=found.type_id)
        keys = member_keys(
            found.discovery,
            name=member.name,
            id=member.id,
            type_id=found.type_id,
            type_name=member.service,
        )
        return dict.fromkeys(keys, value)
