"""Quotas of the input as limits on devices: which names count, what their amounts mean, what is wrong.

Where several objects limit the same resource of a namespace the last one counts, as it does for HAMi.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from springtide.apps.planner.words import with_detail
from springtide.base.quantity import NANO, Quantity
from springtide.engine.placement.admission import denial
from springtide.engine.placement.amounts import INT32_MAX
from springtide.engine.placement.family import DeviceFamily
from springtide.model.device import Allocation
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.quotas import LIMITS, NamespaceQuota, Quotas
from springtide.model.resources import AmountList

_INT64_MAX: Final = 2**63 - 1


def quotas_of(
    found: Iterable[NamespaceQuota],
    families: Mapping[str, DeviceFamily],
    *,
    problems: list[Problem],
) -> Quotas:
    """Return the limits in force, nothing used yet; problems are added to the list."""
    factors = {
        name: factor
        for family in families.values()
        for name, factor in family.quota_factors().items()
    }
    reading = _Reading(factors, problems)
    for quota in found:
        for resource, quantity in quota.limits:
            if resource in factors:
                reading.take(quota, resource, quantity=quantity)
    return Quotas(reading.limits)


class _Reading:
    """Limits of devices one after the other, and who has set them."""

    def __init__(self, factors: Mapping[str, int], problems: list[Problem]) -> None:
        self._factors = factors
        self._problems = problems
        self._said_by: dict[tuple[str, str], str] = {}
        self.limits: dict[str, dict[str, int]] = {}

    def take(self, quota: NamespaceQuota, resource: str, *, quantity: Quantity) -> None:
        """Let a limit stand in place of earlier ones."""
        amount = _whole(quantity)
        if amount is None:
            self._problems.append(_odd(quota, resource, quantity))
            return
        if amount > INT32_MAX:
            self._problems.append(_endless(quota, resource, quantity))
        key = quota.namespace, resource
        own = self.limits.setdefault(quota.namespace, {})
        limit = amount * self._factors[resource]
        if own.get(resource, limit) != limit:
            self._problems.append(_twice(quota, resource, self._said_by[key]))
        own[resource], self._said_by[key] = limit, quota.name


def charges_of(pod: Pod, families: Mapping[str, DeviceFamily], *, quotas: Quotas) -> AmountList:
    """Return what a pod that runs counts for; nobody asks where its namespace has no quota."""
    if not quotas.limited(pod.namespace):
        return ()
    answers = ((family, family.decode(pod)) for family in families.values())
    return tuple(
        pair
        for family, answer in answers
        if isinstance(answer, Allocation)
        for pair in family.charges(answer)
    )


def beyond_quota(
    manifests: Iterable[Pod], families: Mapping[str, DeviceFamily], *, quotas: Quotas
) -> dict[str, tuple[Pod, str]]:
    """Return by uid the pods that admission would deny for what their namespaces hold already."""
    refused = (
        (pod, refusal)
        for pod in manifests
        if not pod.node_name and (refusal := denial(pod, families, quotas=quotas)) is not None
    )
    return {
        pod.uid: (pod, f"would be denied at admission: {with_detail(refusal)}")
        for pod, refusal in refused
    }


def _whole(quantity: Quantity) -> int | None:
    units, rest = divmod(quantity.nano, NANO)
    return None if rest or not -_INT64_MAX <= units <= _INT64_MAX else units


def _problem(quota: NamespaceQuota, resource: str, message: str) -> Problem:
    return Problem(
        source="",
        object=f"ResourceQuota/{quota.key}",
        field=f'spec.hard["{LIMITS}{resource}"]',
        message=message,
    )


def _odd(quota: NamespaceQuota, resource: str, quantity: Quantity) -> Problem:
    return _problem(
        quota, resource, f"{quantity} is no whole number, so it limits nothing. Write one."
    )


def _endless(quota: NamespaceQuota, resource: str, quantity: Quantity) -> Problem:
    message = (
        f"{quantity} is more than any namespace can hold, so it limits nothing. Write a plain number: "
        "memory counts in MiB, and cores in parts of a device, 100 of which are the whole."
    )
    return _problem(quota, resource, message)


def _twice(quota: NamespaceQuota, resource: str, other: str) -> Problem:
    message = (
        f"quota {other} of this namespace limits it differently, and HAMi goes by the last that it "
        "sees: this one here. Limit it in one object."
    )
    return _problem(quota, resource, message)


def overdrawn(quotas: Quotas) -> Iterator[str]:
    """Yield a sentence for every limit that is exceeded already."""
    for namespace, limits in quotas.limits.items():
        for resource, limit in limits.items():
            used = quotas.used(namespace, resource)
            if used > limit:
                yield (
                    f"Namespace {namespace} holds {used} {resource}, more than its quota of {limit}, "
                    "and gets no further devices of that kind until it holds less."
                )
