"""The quotas of namespaces as they come and go: which limits are in force now.

Of several objects that limit the same resource of a namespace, the one that was seen last counts.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from springtide.base.quantity import NANO, Quantity
from springtide.engine.placement.family import DeviceFamily
from springtide.model.quotas import Limits, NamespaceQuota

_INT64_MAX: Final = 2**63 - 1


class Limiting:
    """All quotas that were seen and are still there, the last seen at the end."""

    def __init__(self, families: Mapping[str, DeviceFamily]) -> None:
        self._factors = {
            name: factor
            for family in families.values()
            for name, factor in family.quota_factors().items()
        }
        self._seen: dict[tuple[str, str], NamespaceQuota] = {}

    def see(self, quota: NamespaceQuota) -> bool:
        """Take in a quota as it is now, and return whether anything has changed."""
        key = quota.namespace, quota.name
        before = self._seen.get(key)
        if before is not None and before.limits == quota.limits:
            return False
        self._seen.pop(key, None)
        self._seen[key] = quota
        return True

    def forget(self, namespace: str, name: str) -> bool:
        """Forget a quota that is gone, and return whether it was there."""
        return self._seen.pop((namespace, name), None) is not None

    def all(self) -> tuple[NamespaceQuota, ...]:
        """Return all quotas that there are."""
        return tuple(self._seen.values())

    def limits(self) -> Limits:
        """Return the limits in force, in the unit in which devices are counted."""
        found: dict[str, dict[str, int]] = {}
        for quota in self._seen.values():
            for resource, quantity in quota.limits:
                amount = _whole(quantity)
                if amount is not None and resource in self._factors:
                    own = found.setdefault(quota.namespace, {})
                    own[resource] = amount * self._factors[resource]
        return MappingProxyType(found)


def _whole(quantity: Quantity) -> int | None:
    """Return a number that limits something; parts of a device limit nothing, as for HAMi."""
    units, rest = divmod(quantity.nano, NANO)
    return None if rest or not -_INT64_MAX <= units <= _INT64_MAX else units
