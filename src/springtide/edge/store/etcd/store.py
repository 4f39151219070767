"""The store in etcd: what one member has of its workload's keys."""

from collections.abc import Set
from types import TracebackType
from typing import Final, Never, Self

from springtide.base.clock import Rng
from springtide.edge.store.errors import Conflict, Denied
from springtide.edge.store.etcd import shapes
from springtide.edge.store.etcd.access import EtcdAccess, checked
from springtide.edge.store.etcd.following import Following
from springtide.edge.store.etcd.gateway import Gateway
from springtide.edge.store.etcd.leases import Leases
from springtide.edge.store.etcd.lock import Lock
from springtide.edge.store.etcd.membership import Found, Membership
from springtide.edge.store.etcd.mirror import Mirror, lock_of, status_of
from springtide.edge.store.etcd.shapes import KeyValue, TxnAnswer
from springtide.edge.store.etcd.spans import spans
from springtide.edge.store.etcd.telling import Teller
from springtide.edge.store.etcd.values import Values
from springtide.edge.store.fencing import FenceReason, Offer, Stored, refusal
from springtide.edge.store.looking import Looking
from springtide.edge.store.port import Deliver, Held
from springtide.edge.store.told import StatusDamaged, StatusRead
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.values import Folder, ValueKey
from springtide.model.replicas.workload import Workload
from springtide.wire.replica_keys import Place, keys, members_prefix
from springtide.wire.replica_members import read_record, write_record
from springtide.wire.replica_status import has_object_times, write_status

_TRIES_MAX: Final = 3


class EtcdStore:
    """A store of one workload, to be closed by leaving its block; raises Unusable for a wrong setting."""

    def __init__(
        self,
        access: EtcdAccess,
        workload: Workload,
        *,
        rng: Rng,
        is_observing: bool = False,
        discovery: str = "",
    ) -> None:
        self._access = checked(access)
        self._rng = rng
        place = Place(
            workload=workload,
            prefix=access.prefix,
            discovery=discovery,
            is_observing=is_observing,
        )
        self._keys = keys(place)
        self._looking = Looking()
        self._gateway = Gateway(access)
        self._leases = Leases(self._gateway)
        self._values = Values(self._leases, place)
        self._lock = Lock(self._leases, self._keys.leader)
        found = Found(workload=workload, discovery=access.discovery, type_id=access.type_id)
        self._membership = Membership(self._leases, found, ttl_s=access.pace.member_ttl_s)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._gateway.close()

    @property
    def asked(self) -> int:
        """Return how many requests were made so far."""
        return self._gateway.asked

    async def follow(self, deliver: Deliver) -> Never:
        """Tell what there is and then what changes, until cancelled."""
        looked_at = spans(self._keys, members_prefix(self._access.discovery))
        mirror = Mirror(self._keys, looked_at)
        teller = Teller(mirror, deliver, gather_s=self._access.pace.gather_s)
        following = Following(
            self._gateway,
            mirror=mirror,
            teller=teller,
            membership=self._membership,
            pace=self._access.pace,
            rng=self._rng,
            looking=self._looking,
            key_of=self._values.key_of,
        )
        try:
            await following.run()
        finally:
            teller.close()

    async def join(self, member: Member) -> None:
        """Register this member, or change what others see of it."""
        await self._membership.join(member)

    async def leave(self) -> None:
        """Take this member out."""
        await self._membership.leave()

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Take the lock if it is free."""
        return await self._lock.acquire(holder, ttl_ms=ttl_ms)

    async def renew(self, token: int) -> None:
        """Hold the lock for another while."""
        await self._lock.renew(token)

    async def release(self, token: int) -> None:
        """Give the lock back."""
        await self._lock.release(token)

    async def put_status(self, offer: Offer) -> int:
        """Write the status over what it was made from, as long as the lock is held."""
        leader, before = await self._stored()
        _check(offer, leader, before)
        has_objects = before is not None and has_object_times(before.value)
        value = write_status(offer.status, has_objects=has_objects)
        status = self._keys.status
        writing = shapes.txn(
            [shapes.put(status, value)],
            compare=[*self._lock.is_held(offer.token), shapes.is_at(status, offer.revision)],
            otherwise=[shapes.get(self._keys.leader), shapes.get(status)],
        )
        answer = await self._leases.ask(writing, TxnAnswer)
        if not answer.succeeded:
            _check(offer, *_both(answer))
            # The numbers are the same, so this is another lock, in an etcd that began anew.
            raise _conflict(FenceReason.DEPOSED)
        return answer.header.revision

    async def read_status(self) -> StatusRead | StatusDamaged:
        """Return the status as it is now."""
        return status_of((await self._stored())[1])

    async def put_record(self, index: int, record: Record) -> None:
        """Write a record without any lease."""
        put = shapes.put(self._keys.record(index), write_record(record))
        await self._leases.ask(shapes.txn([put]), TxnAnswer)

    async def delete_record(self, index: int, boot: str) -> None:
        """Delete the record of this run, and of no other."""
        key = self._keys.record(index)
        for _ in range(_TRIES_MAX):
            kept = await self._at(key)
            if kept is None or read_record(kept.value).boot != boot:
                return
            deleting = shapes.txn(
                [shapes.delete(key)], compare=[shapes.is_at(key, kept.mod_revision)]
            )
            if (await self._leases.ask(deleting, TxnAnswer)).succeeded:
                return
        raise Conflict(FenceReason.CHANGED, f"The record of {index} is written again and again.")

    def look_at(self, folders: Set[Folder]) -> None:
        """Tell the values of these folders."""
        self._looking.at(folders)

    async def put_value(self, key: ValueKey, text: str) -> int:
        """Write a value without any lease, or delete it."""
        return await self._values.put(key, text)

    async def claim_index(self, index: int) -> bool:
        """Take a number on the lease of the member that joined."""
        return await self._membership.claim(self._keys.number(index))

    async def set_cost(self, member: str, cost: int) -> None:
        """Raise Denied: members in etcd are processes, and no controller of pods picks among them."""
        raise Denied(f"{member} cannot cost {cost}: only pods in a cluster have a deletion cost.")

    async def replicas(self) -> int | None:
        """Return that etcd cannot tell."""
        return None

    async def _stored(self) -> tuple[KeyValue | None, KeyValue | None]:
        reading = shapes.txn([shapes.get(self._keys.leader), shapes.get(self._keys.status)])
        return _both(await self._leases.ask(reading, TxnAnswer))

    async def _at(self, key: str) -> KeyValue | None:
        answer = await self._leases.ask(shapes.txn([shapes.get(key)]), TxnAnswer)
        return _first(answer, 0)


def _both(answer: TxnAnswer) -> tuple[KeyValue | None, KeyValue | None]:
    return _first(answer, 0), _first(answer, 1)


def _first(answer: TxnAnswer, place: int) -> KeyValue | None:
    return next(iter(answer.found[place].kvs), None)


def _check(offer: Offer, leader: KeyValue | None, before: KeyValue | None) -> None:
    found = status_of(before)
    status = found.status if isinstance(found, StatusRead) else None
    stored = Stored(token=lock_of(leader).token, revision=found.revision, status=status)
    reason = refusal(stored, offer)
    if reason is not None:
        raise _conflict(reason)


def _conflict(reason: FenceReason) -> Conflict:
    return Conflict(reason, f"The status was not written ({reason}).")
