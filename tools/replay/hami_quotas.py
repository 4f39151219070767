"""The quotas of one scenario of HAMi's recordings, as objects come and go.

HAMi keeps one limit a namespace and resource: the last object that is seen sets it, and the deletion
of any object that names it takes it away.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from springtide.engine.placement.family import DeviceFamily
from springtide.model.quotas import Quotas
from springtide.wire.k8s.namespace_quotas import ResourceQuota, to_quota
from springtide.wire.k8s.parts import Parts

Json = Mapping[str, Any]


class QuotaLimits:
    """Limits by namespace and resource, in the unit of users."""

    def __init__(self, families: Iterable[DeviceFamily]) -> None:
        self._factors = {k: v for family in families for k, v in family.quota_factors().items()}
        self._limits: dict[str, dict[str, int]] = {}

    def set(self, quota: Json) -> None:
        """Take in an object that is there."""
        self._limits.setdefault(quota["namespace"], {}).update(self._read(quota))

    def delete(self, quota: Json) -> None:
        """Take in that an object is gone."""
        limits = self._limits.get(quota["namespace"], {})
        for resource in self._read(quota):
            limits.pop(resource, None)

    def scaled(self) -> dict[str, dict[str, int]]:
        """Return the limits in the unit in which devices are counted."""
        return {
            namespace: {name: limit * self._factors[name] for name, limit in limits.items()}
            for namespace, limits in self._limits.items()
        }

    def recorded_form(self, quotas: Quotas) -> dict[str, dict[str, dict[str, int]]]:
        """Return limits and use as the recording writes them."""
        used = quotas.counts()
        found = {}
        for namespace in sorted(used.keys() | self._limits.keys()):
            limits = self._limits.get(namespace, {})
            entries = {
                name: {"used": used.get(namespace, {}).get(name, 0)}
                | ({"limit": limits[name]} if name in limits else {})
                for name in sorted(limits.keys() | used.get(namespace, {}).keys())
            }
            if entries:
                found[namespace] = entries
        return found

    def known(self, recorded: Json) -> dict[str, dict[str, Any]]:
        """Return of recorded limits and use those of resources that our families have."""
        found = {
            namespace: {name: entry for name, entry in entries.items() if name in self._factors}
            for namespace, entries in recorded.items()
        }
        return {namespace: entries for namespace, entries in found.items() if entries}

    def _read(self, quota: Json) -> dict[str, int]:
        raw = {
            "kind": "ResourceQuota",
            "metadata": {"namespace": quota["namespace"], "name": quota["name"]},
            "spec": {"hard": quota.get("hard") or {}},
        }
        read = msgspec.json.decode(msgspec.json.encode(raw), type=ResourceQuota)
        whole = ((name, each.as_int64()) for name, each in to_quota(read, Parts()).limits)
        return {name: limit for name, limit in whole if limit is not None and name in self._factors}
