"""The ConfigMap of the status: written only by who holds the latest token, over what it has seen.

The token of whoever won the lock is written here before anybody learns of it, so that one write of the API
server decides both questions at once: is this the latest leader, and has it seen the latest status.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from msgspec.structs import replace

from springtide.edge.cluster import AlreadyThere, NotFound
from springtide.edge.cluster import errors as cluster_faults
from springtide.edge.store.errors import Conflict
from springtide.edge.store.fencing import FenceReason, Offer, Stored, refusal
from springtide.edge.store.kubernetes.kept_map import KeptMap
from springtide.edge.store.told import ABSENT, StatusDamaged, StatusRead
from springtide.model.config_map import ConfigMap
from springtide.wire.k8s.replica_maps import read_kept, status_data, token_data

Check: TypeAlias = Callable[[int], Awaitable[None]]
"""Raises Conflict unless this token may write now."""

TRIES_MAX: Final = 8
"""So often something is written anew over what others have changed meanwhile."""


class StatusMap(KeptMap):
    """One ConfigMap."""

    async def token(self) -> int:
        """Return the token of the latest leader that came so far."""
        return read_kept(await self.read()).token

    async def claim(self, token: int) -> bool:
        """Keep everybody with a smaller token from writing; False if somebody has this one, or a larger one."""
        for _ in range(TRIES_MAX):
            config = await self._present()
            if read_kept(config).token >= token:
                return False
            if await self._written(config, token_data(token)):
                return True
        raise _crowded()

    async def put(self, offer: Offer, check: Check) -> int:
        """Write a status and return its revision, or raise Conflict, as `check` does for an old token.

        The lock is looked at after the status was read, so whoever takes it afterwards makes this write fail.
        """
        for _ in range(TRIES_MAX):
            config = await self._present(token=offer.token)
            await check(offer.token)
            kept = read_kept(config)
            token = kept.token if offer.token != ABSENT else ABSENT
            stored = Stored(token=token, revision=kept.revision, status=kept.status)
            reason = refusal(stored, offer)
            if reason is not None:
                raise Conflict(reason, f"The status was not written ({reason}).")
            data, revision = status_data(offer.status, over=config)
            if await self._written(config, data):
                return revision
        raise _crowded()

    async def _present(self, *, token: int = 0) -> ConfigMap:
        """Return it, created if it is not there."""
        for _ in range(TRIES_MAX):
            found = await self.read()
            if found is not None:
                return found
            data = {key: text for key, text in token_data(token).items() if text is not None}
            target = self._target
            made = ConfigMap(namespace=target.namespace, name=target.name, data=data)
            try:
                return await self._cluster.create_config_map(made)
            except AlreadyThere:
                continue
        raise _crowded()

    async def _written(self, config: ConfigMap, data: dict[str, str | None]) -> bool:
        """Write over this state of it; False if it has another one by now."""
        target = replace(self._target, uid=config.uid, version=config.version)
        try:
            await self._cluster.patch_data(target, data)
        except (cluster_faults.Conflict, NotFound):
            return False
        return True


def status_read(config: ConfigMap | None) -> StatusRead | StatusDamaged:
    """Return what is told of a state of the ConfigMap."""
    kept = read_kept(config)
    if kept.why:
        return StatusDamaged(why=kept.why, revision=kept.revision)
    return StatusRead(status=kept.status, revision=kept.revision)


def _crowded() -> Conflict:
    words = f"The ConfigMap of the status was changed by others {TRIES_MAX} times in a row."
    return Conflict(FenceReason.CHANGED, words)
