"""The ConfigMap of the application's own values: one text for each, and all of them within what one object holds.

It is made when the first value is written. What is written names the version that it was made from, so that
all together stay within bounds.
"""

from typing import Final

from msgspec.structs import replace

from springtide.edge.cluster import AlreadyThere, NotFound
from springtide.edge.cluster import errors as cluster_faults
from springtide.edge.store.errors import Conflict, Denied, Oversized
from springtide.edge.store.fencing import FenceReason
from springtide.edge.store.kubernetes.kept_map import KeptMap
from springtide.model.config_map import ConfigMap
from springtide.model.replicas.values import (
    VALUES_MAX,
    Folder,
    ValueKey,
    crowded,
    misnamed,
    oversized,
)
from springtide.wire.k8s.replica_maps import read_values, value_data, value_name, version_number

TRIES_MAX: Final = 16
"""So often something is written anew over what others have changed meanwhile."""
MAP_BYTES_MAX: Final = 768 << 10
"""So much do all values have together; the API server takes one MiB with all that belongs to it."""


class ValuesMap(KeptMap):
    """One ConfigMap."""

    async def put(self, key: ValueKey, text: str) -> int:
        """Write a value, or delete it, and return the revision."""
        check_owned(key.folder)
        why = misnamed(key) or oversized(key, text)
        if why:
            raise Oversized(why)
        for _ in range(TRIES_MAX):
            config = await self.read()
            _check_room(config, key, text)
            made = await (
                self._created(key, text) if config is None else self._over(config, key, text)
            )
            if made is not None:
                return version_number(made)
        words = f'The value of "{key.subkey}" met changes by others {TRIES_MAX} times in a row.'
        raise Conflict(FenceReason.CHANGED, words)

    async def _over(self, config: ConfigMap, key: ValueKey, text: str) -> ConfigMap | None:
        """Write over this state of it; None if it has another one by now."""
        if config.data.get(value_name(key), "") == text:
            return config
        target = replace(self._target, uid=config.uid, version=config.version)
        try:
            return await self._cluster.patch_data(target, value_data(key, text))
        except (cluster_faults.Conflict, NotFound):
            return None

    async def _created(self, key: ValueKey, text: str) -> ConfigMap | None:
        data = {name: each for name, each in value_data(key, text).items() if each is not None}
        made = ConfigMap(namespace=self._target.namespace, name=self._target.name, data=data)
        try:
            return await self._cluster.create_config_map(made)
        except AlreadyThere:
            return None


def check_owned(folder: Folder) -> None:
    """Raise Denied for values that several workloads would share."""
    if not folder.has_target:
        raise Denied(
            f'"{folder.name}" is to be shared by several workloads, and a ConfigMap of values belongs '
            "to one. Make the discovery with its target, or let members meet in etcd."
        )


def _check_room(config: ConfigMap | None, key: ValueKey, text: str) -> None:
    if config is None or not text:
        return
    own = value_name(key)
    if own not in config.data and len(read_values(config, key.folder)) >= VALUES_MAX:
        raise Oversized(crowded(key))
    others = sum(len(f"{name}{each}".encode()) for name, each in config.data.items() if name != own)
    if others + len(f"{own}{text}".encode()) > MAP_BYTES_MAX:
        raise Oversized(
            f"The ConfigMap {config.name} would have more than {MAP_BYTES_MAX} bytes; "
            "delete values, or keep them shorter."
        )
