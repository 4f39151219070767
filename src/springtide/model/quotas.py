"""Quotas of namespaces for devices: how much the pods of a namespace may hold, and how much they do.

Kubernetes stores limits like `limits.nvidia.com/gpumem` and leaves it to the scheduler of the devices
to keep to them. Amounts are in the unit in which devices are counted: a limit in the user's unit is
multiplied before it gets here.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from springtide.model.resources import AmountList, Resources

LIMITS: Final = "limits."
"""What a quota puts before the name of a resource."""

Limits = Mapping[str, Mapping[str, int]]
"""Limits by namespace and resource."""

UNLIMITED: Final[Limits] = MappingProxyType({})


class NamespaceQuota(msgspec.Struct, frozen=True, kw_only=True):
    """One ResourceQuota: what it says of `limits.<resource>`, as it is written."""

    namespace: str
    name: str
    limits: Resources = ()

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"


class Quotas:
    """The limits of every namespace that has any, and what its pods hold.

    Pods on nodes that are not known count too (`stand`); as no row holds them, whoever counts them
    takes them off again, if anybody does.
    """

    __slots__ = ("_standing", "_used", "limits")

    def __init__(self, limits: Limits = UNLIMITED) -> None:
        self.limits = limits
        self._used: dict[str, dict[str, int]] = {}
        self._standing: Counter[tuple[str, AmountList]] = Counter()

    def limited(self, namespace: str) -> Mapping[str, int]:
        """Return the limits of a namespace by resource, empty where it has none."""
        return self.limits.get(namespace, {})

    def used(self, namespace: str, resource: str) -> int:
        """Return how much the pods of a namespace hold of a resource."""
        return self._used.get(namespace, {}).get(resource, 0)

    def left(self, namespace: str) -> dict[str, int]:
        """Return what a namespace may still take, by resource; negative where it has too much."""
        used = self._used.get(namespace, {})
        limits = self.limited(namespace).items()
        return {resource: limit - used.get(resource, 0) for resource, limit in limits}

    def count(self, namespace: str, charges: AmountList, *, sign: int = 1) -> None:
        """Count what a pod of a namespace holds (sign 1), or take it off (sign -1)."""
        used = self._used.setdefault(namespace, {})
        for resource, amount in charges:
            used[resource] = used.get(resource, 0) + sign * amount

    def stand(self, namespace: str, charges: AmountList) -> None:
        """Count what a pod holds on a node that is not known."""
        self._standing[namespace, charges] += 1
        self.count(namespace, charges)

    def unstand(self, namespace: str, charges: AmountList) -> None:
        """Take off what a pod held on a node that was not known."""
        left = self._standing.pop((namespace, charges), 0) - 1
        assert left >= 0, "nobody stands for this"
        if left:
            self._standing[namespace, charges] = left
        self.count(namespace, charges, sign=-1)

    def unheld(self) -> "Quotas":
        """Return the quotas as they are without any pod on a known node."""
        fresh = Quotas(self.limits)
        for namespace, charges in self._standing.elements():
            fresh.stand(namespace, charges)
        return fresh

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """Return all that is used, to be compared: what is zero is left out."""
        found = {
            namespace: {resource: amount for resource, amount in used.items() if amount}
            for namespace, used in self._used.items()
        }
        return {namespace: used for namespace, used in found.items() if used}
