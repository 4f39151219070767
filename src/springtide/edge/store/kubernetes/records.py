"""The ConfigMap of the records: one text for each number, apart from the status, so that none waits for the other.

It belongs to no pod, so it outlives all of them. Each number is written by itself.
"""

from typing import Final

from msgspec.structs import replace

from springtide.edge.cluster import AlreadyThere, NotFound
from springtide.edge.cluster import errors as cluster_faults
from springtide.edge.store.errors import Conflict
from springtide.edge.store.fencing import FenceReason
from springtide.edge.store.kubernetes.kept_map import KeptMap
from springtide.model.config_map import ConfigMap
from springtide.model.replicas.member import Record
from springtide.wire.k8s.replica_maps import read_records, record_data

TRIES_MAX: Final = 8
"""So often something is written anew over what others have changed meanwhile."""


class RecordsMap(KeptMap):
    """One ConfigMap."""

    async def put(self, index: int, record: Record) -> None:
        """Write a record, whatever stands in its place."""
        for _ in range(TRIES_MAX):
            if await self._patched(index, record) or await self._created(index, record):
                return
        raise _crowded(index)

    async def delete(self, index: int, boot: str) -> None:
        """Delete the record of this run, and of no other."""
        for _ in range(TRIES_MAX):
            config = await self.read()
            kept = read_records(config).get(index)
            if config is None or kept is None or kept.boot != boot:
                return
            target = replace(self._target, uid=config.uid, version=config.version)
            try:
                await self._cluster.patch_data(target, record_data(index, None))
            except cluster_faults.Conflict:
                continue
            except NotFound:
                pass
            return
        raise _crowded(index)

    async def _patched(self, index: int, record: Record) -> bool:
        try:
            await self._cluster.patch_data(self._target, record_data(index, record))
        except (cluster_faults.Conflict, NotFound):
            # A server gives up a patch when too many others come between.
            return False
        return True

    async def _created(self, index: int, record: Record) -> bool:
        data = {key: text for key, text in record_data(index, record).items() if text is not None}
        made = ConfigMap(namespace=self._target.namespace, name=self._target.name, data=data)
        try:
            await self._cluster.create_config_map(made)
        except AlreadyThere:
            return False
        return True


def _crowded(index: int) -> Conflict:
    words = f"The record of number {index} met changes by others {TRIES_MAX} times in a row."
    return Conflict(FenceReason.CHANGED, words)
