"""Who holds which devices: every pod with an allocation, on the node that it is charged to.

A pod on a node that is not known, or not known to have its devices, counts against its namespace's quota
all the same. Whatever a node registers next, its pods hold of it what is theirs; of devices that it does
not register nobody holds anything, and nobody is given anything.
"""

from collections.abc import Iterable, Mapping

import msgspec

from springtide.engine.placement.family import DeviceFamily
from springtide.model.device import Allocation, DeviceView, Inventory, Share
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import Node
from springtide.model.refusal import Refusal
from springtide.model.resources import AmountList

Closures = tuple[tuple[str, str], ...]
"""Families, each with why nobody knows what a pod holds of it."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What one pod holds; without a node, of its namespace's quota alone."""

    uid: str
    namespace: str
    node: str
    allocations: tuple[Allocation, ...] = ()
    closures: Closures = ()


class Holders:
    """All that pods hold, in a ledger that nobody else writes holdings to."""

    def __init__(self, ledger: Ledger, families: Mapping[str, DeviceFamily]) -> None:
        self.ledger = ledger
        self._families = families
        self._held: dict[str, Held] = {}
        self._on: dict[str, set[str]] = {}

    def __contains__(self, uid: str) -> bool:
        """Return whether a pod holds anything."""
        return uid in self._held

    def get(self, uid: str) -> Held | None:
        """Return what a pod holds."""
        return self._held.get(uid)

    def all(self) -> Iterable[Held]:
        """Return what every pod holds."""
        return self._held.values()

    def hold(self, held: Held) -> None:
        """Record what a pod holds; it must hold nothing yet."""
        assert held.uid not in self._held, held.uid
        self._held[held.uid] = held
        self._on.setdefault(held.node, set()).add(held.uid)
        self._book(held)

    def release(self, uid: str) -> Held | None:
        """Free what a pod holds, if anything, and return it."""
        held = self._held.pop(uid, None)
        if held is not None:
            own = self._on[held.node]
            own.discard(uid)
            if not own:
                del self._on[held.node]
            self._unbook(held)
        return held

    def exceeded(self, uid: str) -> str:
        """Return a device of a pod of which more is held than there is, empty if there is none."""
        holding = self.ledger.holdings.get(uid)
        if holding is None:
            return ""
        views = ((self.ledger.view(holding.row, family), own) for family, own in holding.shares)
        found = (_exceeded(view, own) for view, own in views if view is not None)
        return next(filter(None, found), "")

    def seat(self, node: Node, inventories: Mapping[str, Inventory], closed: Closures) -> None:
        """Let a node have these devices from now on, and be closed to some families."""
        pods = self._unbooked(node.name)
        row = self.ledger.rows.get(node.name)
        if not inventories and not closed:
            if row is not None:
                self.ledger.vacate(row)
        elif row is not None or self.ledger.vacant:
            place = min(self.ledger.vacant) if row is None else row
            self.ledger.renew_node(place, node, inventories)
        else:
            self.ledger.add_node(node, inventories)
        for family, why in closed:
            self.ledger.close(self.ledger.rows[node.name], family, "", why)
        for held in pods:
            self._book(held)

    def unseat(self, node: str) -> None:
        """Let a node have no devices any more."""
        self.seat(Node(name=node), {}, ())

    def _unbooked(self, node: str) -> list[Held]:
        pods = [self._held[uid] for uid in sorted(self._on.get(node, ()))]
        for held in pods:
            self._unbook(held)
        return pods

    def _book(self, held: Held) -> None:
        row = self.ledger.rows.get(held.node)
        charges = self.charges(held.allocations)
        if row is None:
            self.ledger.quotas.stand(held.namespace, charges)
            self.ledger.log_quotas()
            return
        self.ledger.hold(
            Holding(
                uid=held.uid,
                row=row,
                shares=self._shares(held.allocations, row),
                namespace=held.namespace,
                charges=charges,
            )
        )
        for family, why in held.closures:
            self.ledger.close(row, family, held.uid, why)

    def _unbook(self, held: Held) -> None:
        if held.uid not in self.ledger.holdings:
            self.ledger.quotas.unstand(held.namespace, self.charges(held.allocations))
            self.ledger.log_quotas()
            return
        row = self.ledger.release(held.uid).row
        for family, _ in held.closures:
            self.ledger.reopen(row, family, held.uid)

    def _shares(
        self, allocations: Iterable[Allocation], row: int
    ) -> tuple[tuple[str, tuple[Share, ...]], ...]:
        inventories = self.ledger.inventories_at(row)
        return tuple(
            (each.family, self._families[each.family].shares(each, inventories[each.family]))
            for each in allocations
            if each.family in inventories
        )

    def charges(self, allocations: Iterable[Allocation]) -> AmountList:
        """Return what allocations count for against a quota."""
        return tuple(
            pair for each in allocations for pair in self._families[each.family].charges(each)
        )


def _exceeded(view: DeviceView, shares: Iterable[Share]) -> str:
    """Return the first of the devices in these shares of which more is in use than it has."""
    for share in shares:
        device, use = view.inventory.devices[share.position], view.uses[share.position]
        if use.slots > device.slots or use.memory_mib > device.memory_mib:
            return device.id
    return ""


def closure(family: str, refusal: Refusal) -> tuple[str, str]:
    """Return the closure of a family for what cannot be read."""
    return family, refusal.text
