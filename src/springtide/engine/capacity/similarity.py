"""Which groups are similar: so nearly equal that new nodes may be spread over all of them.

Cluster Autoscaler's comparison of two templates: equal capacity but for a little memory, nearly
equal allocatable and free resources, equal labels except those in which the groups of one pool
differ by nature, such as the zone. Ours adds the devices: groups with as many cards of another
size or model are not similar. The ids of devices, their health and their order do not count.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from springtide.engine.placement.classes import standing_amounts
from springtide.engine.simulation.templates import Template
from springtide.model.device import Device, Inventory
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.resources import Amounts, amounts

IGNORED_LABELS: Final = frozenset(
    {
        HOSTNAME_LABEL,
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "beta.kubernetes.io/fluentd-ds-ready",
        "kops.k8s.io/instancegroup",
    }
)
"""Labels in which similar groups may differ."""

_ALWAYS_COUNTED: Final = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)


class Similarity(msgspec.Struct, frozen=True, kw_only=True):
    """How much two groups may differ: shares of the larger amount, and further labels."""

    memory_difference_max: float = 0.015
    allocatable_difference_max: float = 0.05
    free_difference_max: float = 0.05
    ignored_labels: frozenset[str] = frozenset()

    def holds(self, one: Template, other: Template) -> bool:
        """Return whether new nodes may be spread over the groups of both templates."""
        return (
            self._labels(one) == self._labels(other)
            and self._has_equal_capacity(one, other)
            and _are_near(
                amounts(one.node.allocatable),
                amounts(other.node.allocatable),
                self.allocatable_difference_max,
            )
            and _are_near(_free(one), _free(other), self.free_difference_max)
            and _devices(one) == _devices(other)
        )

    def _labels(self, template: Template) -> dict[str, str]:
        ignored = IGNORED_LABELS | self.ignored_labels
        return {key: value for key, value in template.node.labels.items() if key not in ignored}

    def _has_equal_capacity(self, one: Template, other: Template) -> bool:
        mine, others = dict(one.node.capacity), dict(other.node.capacity)
        if mine.keys() != others.keys():
            return False
        return all(
            _is_near(quantity.nano, others[name].nano, self.memory_difference_max)
            if name == MEMORY
            else quantity.nano == others[name].nano
            for name, quantity in mine.items()
        )


def _are_near(mine: Amounts, others: Amounts, difference_max: float) -> bool:
    return mine.keys() == others.keys() and all(
        _is_near(value, others[name], difference_max) for name, value in mine.items()
    )


def _is_near(one: int, other: int, difference_max: float) -> bool:
    larger, smaller = max(one, other), min(one, other)
    return larger - smaller <= larger * difference_max


def _free(template: Template) -> Mapping[str, int]:
    """Return what the pods of a new node leave free, of everything that they ask for."""
    have = amounts(template.node.allocatable)
    taken = dict.fromkeys(_ALWAYS_COUNTED, 0)
    for pod in template.pods:
        for name, quantity in standing_amounts(pod):
            # A pod's own place is not among the requests that are compared.
            if name != PODS:
                taken[name] = taken.get(name, 0) + quantity
    return {name: have.get(name, 0) - quantity for name, quantity in taken.items()}


def _devices(template: Template) -> dict[str, Counter[Device]]:
    return {family: _nameless(inventory) for family, inventory in template.inventories}


def _nameless(inventory: Inventory) -> Counter[Device]:
    return Counter(
        replace(
            device,
            id="",
            index=0,
            is_healthy=True,
            is_cordoned=False,
            links=tuple(sorted(("", score) for _, score in device.links)),
        )
        for device in inventory.devices
    )
