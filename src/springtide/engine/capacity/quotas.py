"""Limits of the whole cluster, or of a part of it: cores, memory, nodes, devices, other resources.

Cluster Autoscaler's resource quotas. What counts is the capacity of nodes, cores rounded up to
whole ones; virtual nodes do not count. Ours counts every node by itself, where the original takes
all nodes of a group for equal to the first it saw, and counts registered devices, by family and by
type, where the original looks at a label and at one extended resource.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Final, Self

import msgspec

from springtide.base.names import MEMORY
from springtide.base.quantity import NANO, Format, Quantity
from springtide.base.selectors import Selector
from springtide.engine.capacity.explain import LIMIT
from springtide.engine.simulation.templates import Template
from springtide.model.device import Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.refusal import Refusal

NODES: Final = "nodes"

_VIRTUAL: Final = ("type", "virtual-kubelet")

Counts = Mapping[str, int]
"""Resource, device family or device type to how much of it: whole cores, bytes, nodes, devices."""


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """The most there may be of some resources, on all nodes or on those that are selected.

    Limits are given for `cpu` in cores, `memory` in bytes, `nodes`, families and types of devices in
    devices, and other resources of nodes in whole units.
    """

    name: str = "cluster-wide"
    limits: tuple[tuple[str, int], ...]
    selector: Selector | None = None

    def covers(self, node: Node) -> bool:
        """Return whether the node counts."""
        return self.selector is None or self.selector.matches(node.labels)


class Excess(msgspec.Struct, frozen=True, kw_only=True):
    """One resource of which a quota leaves too little: how much is left, and what a node has."""

    resource: str
    limit: int
    left: int
    each: int

    @property
    def text(self) -> str:
        """Return the numbers in words."""
        left, limit, each = (
            shown(self.resource, count) for count in (self.left, self.limit, self.each)
        )
        return f"{left} of {limit} left, a new node has {each}"


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the nodes wanted may be added; `exceeded` names quotas with what is short."""

    count: int
    exceeded: tuple[tuple[str, tuple[Excess, ...]], ...] = ()

    @property
    def refusal(self) -> Refusal:
        """Return what the quotas that are exceeded say."""
        found = [excess for _, short in self.exceeded for excess in short]
        is_one = len(found) == 1
        return Refusal(
            rule=LIMIT,
            reasons=tuple(
                f'exceeded quota: "{name}", resources: {", ".join(each.resource for each in short)}'
                for name, short in self.exceeded
            ),
            detail="; ".join(
                each.text if is_one else f"{each.resource} {each.text}" for each in found
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
            short = tuple(
                # More may be there than is allowed: then nothing is left, not less.
                Excess(resource=name, limit=limit, left=max(0, left[name]), each=each[name])
                for name, limit in sorted(quota.limits)
                if each.get(name, 0) * wanted > max(0, left[name])
            )
            if short:
                count = min(count, *(excess.left // excess.each for excess in short))
                exceeded.append((quota.name, short))
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
            tracker.count(node, registered(ledger, row))
    return tracker


def registered(ledger: Ledger, row: int) -> Iterator[tuple[str, Inventory]]:
    """Yield the devices of a node by family."""
    for family, columns in ledger.devices.items():
        inventory = columns.inventory_at(row)
        if inventory is not None:
            yield family, inventory


def content(node: Node, inventories: Iterable[tuple[str, Inventory]] = ()) -> Counts:
    """Return what one node counts for; a resource of which it has none is left out."""
    key, value = _VIRTUAL
    if node.labels.get(key) == value:
        return {}
    counted = {name: quantity.value() for name, quantity in node.capacity}
    counted[NODES] = 1
    for family, inventory in inventories:
        counted[family] = len(inventory.devices)
        counted |= Counter(device.type for device in inventory.devices)
    return {name: count for name, count in counted.items() if count > 0}


def shown(name: str, count: int) -> str:
    """Return how much of a resource that is, as people write it."""
    if name != MEMORY:
        return str(count)
    return Quantity(nano=count * NANO, format=Format.BINARY_SI).canonical()
