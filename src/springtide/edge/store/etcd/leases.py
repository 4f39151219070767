"""Leases of etcd: what hangs on one goes with it."""

from contextlib import suppress
from math import ceil
from typing import Final, TypeVar

import msgspec

from springtide.edge.store.etcd.gateway import Gateway
from springtide.edge.store.etcd.refusals import LeaseGone
from springtide.edge.store.etcd.shapes import Fields, Kept, Lease

T = TypeVar("T")

TXN: Final = "/v3/kv/txn"


class _Revoked(msgspec.Struct, frozen=True):
    """Nothing is said of it."""


class Leases:
    """The leases of one etcd, and transactions on them."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def ask(self, txn: Fields, kind: type[T]) -> T:
        """Return what comes of a transaction."""
        return await self._gateway.ask(TXN, txn, kind)

    async def grant(self, ttl_s: float) -> int:
        """Return a new lease; etcd counts whole seconds, and may give a longer one."""
        fields = {"TTL": str(ceil(ttl_s))}
        return (await self._gateway.ask("/v3/lease/grant", fields, Lease)).id

    async def keep(self, lease: int) -> bool:
        """Begin its time anew, and return whether it is still there."""
        try:
            kept = await self._gateway.ask("/v3/lease/keepalive", {"ID": str(lease)}, Kept)
        except LeaseGone:
            return False
        return kept.result.ttl_s > 0

    async def revoke(self, lease: int) -> None:
        """End it now."""
        with suppress(LeaseGone):
            await self._gateway.ask("/v3/lease/revoke", {"ID": str(lease)}, _Revoked)
