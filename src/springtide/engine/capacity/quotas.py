"""Limits of the whole cluster, or of a part of it: cores, memory, nodes, devices of a family.

Cluster Autoscaler's resource quotas. What counts is the capacity of nodes, cores rounded up to
whole ones; virtual nodes do not count. Ours counts every node by itself, where the original takes
all nodes of a group for equal to the first it saw, and counts devices by family.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Final, Self

import msgspec

from springtide.base.names import CPU, MEMORY
from springtide.base.selectors import Selector
from springtide.engine.capacity.explain import LIMIT
from springtide.engine.simulation.templates import Template
from springtide.model.device import Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.refusal import Refusal
from springtide.model.resources import lookup

NODES: Final = "nodes"

_VIRTUAL: Final = ("type", "virtual-kubelet")

Counts = Mapping[str, int]
"""Resource or device family to how much of it: whole cores, bytes, nodes, devices."""


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """The most there may be of some resources, on all nodes or on those that are selected.

    Limits are given for `cpu` in cores, `memory` in bytes, `nodes`, and families in devices.
    """

    name: str = "cluster-wide"
    limits: tuple[tuple[str, int], ...]
    selector: Selector | None = None

    def covers(self, node: Node) -> bool:
        """Return whether the node counts."""
        return self.selector is None or self.selector.matches(node.labels)


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the nodes wanted may be added; `exceeded` names quotas with their resources."""

    count: int
    exceeded: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def refusal(self) -> Refusal:
        """Return what the quotas that are exceeded say."""
        return Refusal(
            rule=LIMIT,
            reasons=tuple(
                f'exceeded quota: "{name}", resources: {", ".join(resources)}'
                for name, resources in self.exceeded
            ),
        )


class Tracker:
    """What is left of every quota while nodes are added."""

    def __init__(self, quotas: Sequence[Quota]) -> None:
        self._quotas = tuple(quotas)
        self._left = tuple(dict(quota.limits) for quota in quotas)

    def count(self, node: Node, inventories: Iterable[tuple[str, Inventory]] = ()) -> None:
        """Count one node that exists."""
        if self._quotas:
            self._take(node, content(node, inventories), 1)

    def allowed(self, template: Template, wanted: int) -> Allowance:
        """Return how many of so many new nodes the quotas allow."""
        each = content(template.node, template.inventories) if self._quotas else {}
        count, exceeded = wanted, []
        for quota, left in zip(self._quotas, self._left, strict=True):
            if not quota.covers(template.node):
                continue
            # More may be there than is allowed: then nothing is left, not less.
            bounds = {
                name: max(0, left[name]) // taken
                for name, taken in each.items()
                if name in left and taken * wanted > left[name]
            }
            if bounds:
                count = min(count, *bounds.values())
                exceeded.append((quota.name, tuple(sorted(bounds))))
        return Allowance(count=count, exceeded=tuple(exceeded))

    def consume(self, template: Template, count: int) -> None:
        """Count so many new nodes."""
        if self._quotas:
            self._take(template.node, content(template.node, template.inventories), count)

    def fork(self) -> Self:
        """Return a tracker of its own that stands where this one does."""
        return copy(self)

    def _take(self, node: Node, each: Counts, count: int) -> None:
        # What is left is replaced, never changed: forks share it until then.
        self._left = tuple(
            {name: value - each.get(name, 0) * count for name, value in left.items()}
            if quota.covers(node)
            else left
            for quota, left in zip(self._quotas, self._left, strict=True)
        )


def tracked(ledger: Ledger, quotas: Sequence[Quota]) -> Tracker:
    """Return what the nodes of a ledger leave of the quotas."""
    tracker = Tracker(quotas)
    if quotas:
        for row, node in enumerate(ledger.nodes):
            tracker.count(node, _registered(ledger, row))
    return tracker


def _registered(ledger: Ledger, row: int) -> Iterator[tuple[str, Inventory]]:
    for family, columns in ledger.devices.items():
        inventory = columns.inventory_at(row)
        if inventory is not None:
            yield family, inventory


def content(node: Node, inventories: Iterable[tuple[str, Inventory]] = ()) -> Counts:
    """Return what one node counts for; a resource of which it has none is left out."""
    key, value = _VIRTUAL
    if node.labels.get(key) == value:
        return {}
    cores, memory = lookup(node.capacity, CPU), lookup(node.capacity, MEMORY)
    counted = {
        CPU: 0 if cores is None else cores.value(),
        MEMORY: 0 if memory is None else memory.value(),
        NODES: 1,
        **{family: len(inventory.devices) for family, inventory in inventories},
    }
    return {name: count for name, count in counted.items() if count > 0}
