"""The lock: a key that only one can create, on a lease of its own, so that it goes with its holder."""

from typing import Final

from springtide.edge.store.errors import Conflict
from springtide.edge.store.etcd import shapes
from springtide.edge.store.etcd.leases import Leases
from springtide.edge.store.etcd.shapes import Fields, TxnAnswer
from springtide.edge.store.fencing import FenceReason
from springtide.edge.store.port import Held

_S_MS: Final = 1000


class Lock:
    """The lock of one workload; a token is the revision at which its key was created."""

    def __init__(self, leases: Leases, key: str) -> None:
        self._leases = leases
        self._key = key
        self._held: dict[int, int] = {}

    def is_held(self, token: int) -> list[Fields]:
        """Return the conditions under which a token holds the lock.

        In an etcd that began anew revisions come again, but leases do not.
        """
        at = shapes.is_at(self._key, token)
        lease = self._held.get(token)
        return [at] if lease is None else [at, shapes.hangs_on(self._key, lease)]

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Take it if it is free."""
        lease = await self._leases.grant(ttl_ms / _S_MS)
        put = shapes.put(self._key, holder, lease=lease)
        taking = shapes.txn([put], compare=[shapes.is_absent(self._key)])
        answer = await self._leases.ask(taking, TxnAnswer)
        if not answer.succeeded:
            await self._leases.revoke(lease)
            return None
        token = answer.header.revision
        self._held = {token: lease}
        return Held(token)

    async def renew(self, token: int) -> None:
        """Begin its time anew; a lease that lives does not hold a key that somebody deleted."""
        lease = self._held.get(token)
        if lease is None or not await self._leases.keep(lease):
            raise _deposed()
        looking = shapes.txn([], compare=self.is_held(token))
        if not (await self._leases.ask(looking, TxnAnswer)).succeeded:
            raise _deposed()

    async def release(self, token: int) -> None:
        """Delete the key if it is still that of this token, and end the lease."""
        deleting = shapes.txn([shapes.delete(self._key)], compare=self.is_held(token))
        await self._leases.ask(deleting, TxnAnswer)
        lease = self._held.pop(token, None)
        if lease is not None:
            await self._leases.revoke(lease)


def _deposed() -> Conflict:
    return Conflict(FenceReason.DEPOSED, "The lock ran out, and somebody else may hold it.")
