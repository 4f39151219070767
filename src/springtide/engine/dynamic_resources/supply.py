"""The pools that each node sees, and what makes two nodes' views the same question.

Pools whose devices only one node reaches are found by its name; the others are looked through for
every node. A node that does not exist yet has the slices of its record, in pools of its own name.
"""

from collections.abc import Hashable
from typing import Final

import msgspec

from springtide.engine.dynamic_resources.copies import renamed
from springtide.engine.dynamic_resources.pools import (
    Pool,
    PoolView,
    pools_of,
    search_order,
    view,
)
from springtide.model.node import Node
from springtide.model.resource_claims import DeviceObjects

OFFERS_MAX: Final = 1 << 17


class Offer(msgspec.Struct, frozen=True, eq=False):
    """What one node sees. Nodes with the same `content` have the same devices in the same order."""

    views: tuple[PoolView, ...]
    content: int


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
        is_own = set(map(id, own))
        content = tuple(_content(each, is_own=id(each.pool) in is_own) for each in views)
        code = self._contents.setdefault(content, len(self._contents))
        return Offer(views, code)


def _content(seen: PoolView, *, is_own: bool) -> Hashable:
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
        tuple(each.device for each, _ in seen.devices),
    )
