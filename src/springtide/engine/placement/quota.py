"""What quotas of namespaces have to say: when they bound an ask, what they refuse, and how much is short.

A quota is a limit of the namespace, so that it reads what pods hold on all nodes. An ask that no quota
can bind any more, because more is left than the pod could take anywhere, is the ask as it is: then
nothing has to be judged again when others of the namespace come and go.
"""

from collections.abc import Iterable, Mapping

import msgspec

from springtide.engine.placement.family import Ask, DeviceFamily
from springtide.engine.placement.reasons import Reason
from springtide.model.device_columns import DeviceColumns
from springtide.model.ledger import Ledger
from springtide.model.quotas import LIMITS, Quotas
from springtide.model.refusal import Refusal
from springtide.model.resources import AmountList

Families = Mapping[str, DeviceFamily]


class Shortage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One resource of which a namespace has too little left for a pod.

    Amounts are in the unit in which devices are counted, `factor` times the one of limits.
    """

    namespace: str
    resource: str
    used: int
    limit: int
    asked: int
    factor: int = 1

    @property
    def enough(self) -> int:
        """Return the smallest limit that would do, in the unit of limits."""
        return -(-(self.used + self.asked) // self.factor)

    @property
    def name(self) -> str:
        """Return what a quota calls it."""
        return f"{LIMITS}{self.resource}"

    @property
    def stated(self) -> int:
        """Return the limit as the quota states it."""
        return self.limit // self.factor

    @property
    def text(self) -> str:
        """Return the numbers, as a sentence part."""
        return (
            f"{self.resource} of namespace {self.namespace}: {self.asked} asked, "
            f"{self.used} of {self.limit} used"
        )


def is_limited(families: Iterable[DeviceFamily], namespace: str, *, quotas: Quotas) -> bool:
    """Return whether a namespace has a limit of anything that these families count."""
    limits = quotas.limited(namespace)
    return bool(limits) and any(not limits.keys().isdisjoint(f.quota_factors()) for f in families)


def bounded(
    asks: Iterable[Ask], namespace: str, *, ledger: Ledger, families: Families
) -> tuple[Ask, ...]:
    """Return the asks with what the namespace's quota leaves of what they might take."""
    left = ledger.quotas.left(namespace)
    return tuple(
        _bounded(ask, families[ask.family], ledger.devices.get(ask.family), left) for ask in asks
    )


def _bounded(
    ask: Ask, family: DeviceFamily, columns: DeviceColumns | None, left: Mapping[str, int]
) -> Ask:
    if columns is None:
        return ask
    most = family.most(ask, columns)
    short = {name: left[name] for name, amount in most if name in left and left[name] < amount}
    return family.within(ask, short) if short else ask


def may_bind(
    wanted: Iterable[tuple[str, tuple[Ask, ...], int]], *, ledger: Ledger, families: Families
) -> bool:
    """Return whether so many pods of namespaces may take more than a quota leaves them."""
    sums: dict[str, dict[str, int]] = {}
    for namespace, asks, count in wanted:
        taken = sums.setdefault(namespace, {})
        for name, amount in _most(asks, ledger, families).items():
            taken[name] = taken.get(name, 0) + count * amount
    return any(
        taken.get(name, 0) > left
        for namespace, taken in sums.items()
        for name, left in ledger.quotas.left(namespace).items()
        if name in taken
    )


def _most(asks: Iterable[Ask], ledger: Ledger, families: Families) -> dict[str, int]:
    """Return the most that a pod of these asks could take on any node, by resource."""
    most: dict[str, int] = {}
    for ask in asks:
        columns = ledger.devices.get(ask.family)
        for name, amount in () if columns is None else families[ask.family].most(ask, columns):
            most[name] = most.get(name, 0) + amount
    return most


def shortages(
    namespace: str, charges: AmountList, *, quotas: Quotas, families: Families
) -> tuple[Shortage, ...]:
    """Return of what a namespace has too little left for a pod that takes so much."""
    limits = quotas.limited(namespace)
    factors = {
        name: f for family in families.values() for name, f in family.quota_factors().items()
    }
    return tuple(
        Shortage(
            namespace=namespace,
            resource=name,
            used=used,
            limit=limits[name],
            asked=amount,
            factor=factors.get(name, 1),
        )
        for name, amount in charges
        if name in limits and (used := quotas.used(namespace, name)) + amount > limits[name]
    )


def is_refused_by_quota(refusal: Refusal) -> bool:
    """Return whether a quota has a part in this refusal."""
    return any(Reason.RESOURCE_QUOTA_NOT_FIT in reason for reason in refusal.reasons)


def numbers(asks: Iterable[Ask], namespace: str, *, ledger: Ledger, families: Families) -> str:
    """Return how little a namespace's quota leaves of what these asks might take, for people."""
    most = _most(asks, ledger, families)
    limits, left = ledger.quotas.limited(namespace), ledger.quotas.left(namespace)
    short = [name for name, amount in most.items() if name in left and left[name] < amount]
    parts = (f"{max(left[name], 0)} of {limits[name]} {name}" for name in short)
    return f"namespace {namespace} has {' and '.join(parts)} left" if short else ""
