"""The pools that each node sees, and what makes two nodes' views the same question.

Pools whose devices only one node reaches are found by its name; the others are looked through for
every node. A node that does not exist yet has the slices of its record, in pools of its own name.
"""

from collections.abc import Collection, Hashable
from typing import Final

from springtide.engine.dynamic_resources.copies import renamed
from springtide.engine.dynamic_resources.pools import (
    Pool,
    PoolView,
    pools_of,
    search_order,
    view,
)
from springtide.engine.dynamic_resources.reading import attributes_read
from springtide.model.device_slices import OfferedDevice
from springtide.model.node import Node
from springtide.model.resource_claims import DeviceObjects

OFFERS_MAX: Final = 1 << 17


class Offer:
    """What one node sees.

    Nodes with the same `content` have devices in the same order that are equal in what can be read.
    """

    __slots__ = ("_contents", "_known", "_own", "views")

    def __init__(
        self, views: tuple[PoolView, ...], own: Collection[int], contents: dict[Hashable, int]
    ) -> None:
        self.views = views
        self._own = [id(each.pool) in own for each in views]
        self._contents = contents
        self._known: dict[frozenset[str] | None, int] = {}

    def content(self, words: frozenset[str] | None) -> int:
        """Return a number for all that claims with these words can tell from other offers."""
        known = self._known.get(words)
        if known is None:
            pairs = zip(self.views, self._own, strict=True)
            seen = (words, tuple(_content(each, words, is_own=own) for each, own in pairs))
            known = self._known[words] = self._contents.setdefault(seen, len(self._contents))
        return known


class Supply:
    """The pools of a cluster."""

    def __init__(self, objects: DeviceObjects) -> None:
        self._rules = tuple(objects.taint_rules.values())
        self._own: dict[str, list[Pool]] = {}
        self.shared: list[Pool] = []
        self._contents: dict[Hashable, int] = {}
        self._offers: dict[tuple[str, int], tuple[Node, Offer]] = {}
        for pool in pools_of(objects.slices.values(), self._rules):
            node = pool.only_node
            if node:
                self._own.setdefault(node, []).append(pool)
            else:
                self.shared.append(pool)

    def offer(self, node: Node, name: str) -> Offer:
        """Return what the node sees under this name."""
        known = self._offers.get((name, id(node)))
        if known is not None and known[0] is node:
            return known[1]
        if len(self._offers) >= OFFERS_MAX:
            self._offers.clear()
        offer = self._offer(node, name)
        self._offers[name, id(node)] = (node, offer)
        return offer

    def _offer(self, node: Node, name: str) -> Offer:
        own = self._own.get(name, ())
        if node.device_slices:
            own = pools_of(renamed(node.device_slices, name), self._rules)
        pools = [*own, *self.shared]
        if own and self.shared:
            pools.sort(key=search_order)
        views = tuple(each for each in (view(pool, node, name=name) for pool in pools) if each)
        return Offer(views, set(map(id, own)), self._contents)


def _content(seen: PoolView, words: frozenset[str] | None, *, is_own: bool) -> Hashable:
    """Return all of a view that a search can tell from another one."""
    if not is_own:
        reachable = tuple(each.position for each, is_reachable in seen.devices if is_reachable)
        seen_at = tuple(each.position for each, _ in seen.devices)
        return seen.pool.name, seen_at, reachable
    pool = seen.pool
    return (
        pool.name.driver,
        pool.is_incomplete,
        pool.fault,
        tuple((name, tuple(sorted(each.items()))) for name, each in sorted(pool.counters.items())),
        tuple(_device(each.device, words) for each, _ in seen.devices),
    )


def _device(device: OfferedDevice, words: frozenset[str] | None) -> Hashable:
    """Return what a search reads of a device."""
    return (
        device.name,
        attributes_read(device, words),
        device.capacity,
        device.consumes,
        device.taints,
        device.allows_multiple,
    )
