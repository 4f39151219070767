"""Values of the application's own in etcd, each under a key of its own, written whatever others wrote."""

from springtide.edge.store.errors import Oversized
from springtide.edge.store.etcd import shapes
from springtide.edge.store.etcd.leases import Leases
from springtide.edge.store.etcd.shapes import TxnAnswer
from springtide.model.replicas.values import (
    VALUES_MAX,
    Folder,
    ValueKey,
    crowded,
    misnamed,
    oversized,
)
from springtide.wire.replica_keys import Place, folder_key, value_key


class Values:
    """The values of one workload."""

    def __init__(self, leases: Leases, place: Place) -> None:
        self._leases = leases
        self._place = place

    def key_of(self, folder: Folder) -> str:
        """Return where the values of a folder lie."""
        return folder_key(self._place, folder)

    async def put(self, key: ValueKey, text: str) -> int:
        """Write a value and return its revision; of many that come at once, a few more may find room."""
        why = misnamed(key) or oversized(key, text)
        if why:
            raise Oversized(why)
        at = value_key(self._place, key)
        if text and not await self._has_room(at, key.folder):
            raise Oversized(crowded(key))
        writing = shapes.put(at, text) if text else shapes.delete(at)
        return (await self._leases.ask(shapes.txn([writing]), TxnAnswer)).header.revision

    async def _has_room(self, at: str, folder: Folder) -> bool:
        counting = shapes.txn([shapes.get(at), shapes.count(f"{self.key_of(folder)}/")])
        own, below = (await self._leases.ask(counting, TxnAnswer)).found
        return bool(own.kvs) or below.count < VALUES_MAX
