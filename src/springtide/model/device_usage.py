"""What is taken of the devices: those in use, and how much of each that serves several claims.

A device that was given with admin access is not in use: others can have it all the same.
"""

from collections.abc import Iterable, Mapping

import msgspec

from springtide.model.device_slices import PoolName
from springtide.model.resource_claims import ClaimAllocation, DeviceUse, HeldClaim

DeviceId = tuple[str, str, str]
"""Driver, pool and device."""
Consumed = tuple[tuple[str, int], ...]


class PoolUse(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """What is taken of one pool: devices by name, and nano units by device and capacity."""

    taken: frozenset[str] = frozenset()
    consumed: tuple[tuple[str, Consumed], ...] = ()

    def consumed_of(self, device: str) -> Mapping[str, int]:
        """Return what claims consume of a device together."""
        return dict(next((amounts for name, amounts in self.consumed if name == device), ()))

    @property
    def in_use(self) -> frozenset[str]:
        """Return the devices that anybody uses, alone or with others."""
        return self.taken | {name for name, _ in self.consumed}


UNUSED = PoolUse()


class DeviceUsage:
    """What allocations take, by pool. Allocations can be taken back."""

    def __init__(self, allocations: Iterable[ClaimAllocation] = ()) -> None:
        self._users: dict[DeviceId, int] = {}
        self._consumed: dict[DeviceId, dict[str, int]] = {}
        self._sharers: dict[DeviceId, int] = {}
        self._known: dict[PoolName, PoolUse] = {}
        self._by_pool: dict[PoolName, set[str]] = {}
        for each in allocations:
            self.take(each)

    def take(self, allocation: ClaimAllocation, *, sign: int = 1) -> None:
        """Count what an allocation takes (sign 1), or take it off (sign -1)."""
        for use in allocation.devices:
            if not use.admin_access:
                self._take(use, sign)

    def of(self, pool: PoolName) -> PoolUse:
        """Return what is taken of a pool."""
        if pool not in self._by_pool:
            return UNUSED
        known = self._known.get(pool)
        if known is None:
            known = self._known[pool] = self._pool_use(pool)
        return known

    def counts(self) -> object:
        """Return what is taken, to be compared: devices without users are left out."""
        shared = {key: count for key, count in self._sharers.items() if count}
        alone = {key: count for key, count in self._users.items() if count}
        return alone, shared, {key: self._amounts(key) for key in shared}

    def _take(self, use: DeviceUse, sign: int) -> None:
        pool = PoolName(use.driver, use.pool)
        key = (use.driver, use.pool, use.device)
        self._known.pop(pool, None)
        self._by_pool.setdefault(pool, set()).add(use.device)
        counts = self._users if use.consumed is None else self._sharers
        counts[key] = counts.get(key, 0) + sign
        if use.consumed is not None:
            amounts = self._consumed.setdefault(key, {})
            for name, amount in use.consumed:
                amounts[name] = amounts.get(name, 0) + sign * amount.nano

    def _pool_use(self, pool: PoolName) -> PoolUse:
        keys = [(pool.driver, pool.pool, device) for device in sorted(self._by_pool[pool])]
        shared = [key for key in keys if self._sharers.get(key)]
        return PoolUse(
            taken=frozenset(key[2] for key in keys if self._users.get(key)),
            consumed=tuple((key[2], self._amounts(key)) for key in shared),
        )

    def _amounts(self, device: DeviceId) -> Consumed:
        return tuple(sorted(pair for pair in self._consumed[device].items() if pair[1]))


class HeldClaims:
    """The claims of pods that were placed. A claim that several pods use takes its devices once."""

    def __init__(self) -> None:
        self.usage = DeviceUsage()
        self._given: dict[str, ClaimAllocation] = {}
        self._users: dict[str, int] = {}

    def given(self, key: str) -> ClaimAllocation | None:
        """Return what a claim was given, None if no placed pod has it."""
        return self._given.get(key)

    def count(self, claim: HeldClaim, *, sign: int = 1) -> None:
        """Count one more user of a claim (sign 1), or one less (sign -1)."""
        if not claim.key:
            self.usage.take(claim.allocation, sign=sign)
            return
        users = self._users.pop(claim.key, 0) + sign
        assert users >= 0, f"{claim.key} is released twice"
        if users:
            self._users[claim.key] = users
        if (users, sign) in {(1, 1), (0, -1)}:
            self.usage.take(claim.allocation, sign=sign)
            self._given.pop(claim.key, None)
            if users:
                self._given[claim.key] = claim.allocation

    def counts(self) -> object:
        """Return all that is held, to be compared."""
        return dict(self._given), dict(self._users), self.usage.counts()


def merged(one: PoolUse, other: PoolUse) -> PoolUse:
    """Return what is taken of a pool on two accounts."""
    if other is UNUSED:
        return one
    if one is UNUSED:
        return other
    amounts: dict[str, dict[str, int]] = {}
    for device, consumed in (*one.consumed, *other.consumed):
        known = amounts.setdefault(device, {})
        for name, amount in consumed:
            known[name] = known.get(name, 0) + amount
    return PoolUse(
        taken=one.taken | other.taken,
        consumed=tuple(
            (device, tuple(sorted(known.items()))) for device, known in sorted(amounts.items())
        ),
    )
