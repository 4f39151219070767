"""Who holds what in a replayed scenario: our ledger, and the class tables over it.

The ledger follows what changes, so that tables are refreshed as they are in a live cluster. Where
HAMi's state differs by a listed rule it is taken over, and both of us decide on from there.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import structs

from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.tables import Tables
from springtide.model.device import Allocation, Inventory, Share
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.quotas import Quotas
from springtide.model.refusal import Refusal
from springtide.model.resources import AmountList
from tools.replay.hami_quotas import QuotaLimits

NODE: Final = "hami.io/vgpu-node"
NO_RULES: Final = FrameworkConfig(filters=(), pre_filters=frozenset())
"""Devices alone decide: HAMi's scheduler is asked about nothing else."""

Seen = Callable[[Pod, Allocation, DeviceFamily], Allocation]
Inventories = Mapping[str, Mapping[str, Inventory]]
"""The devices of nodes, by node and family."""


class State:
    """Which nodes are registered, which pods are counted, and the ledger that follows from it.

    `foreign` are the nodes with devices of families that we do not know. `unpadded` are the pods whose allocation HAMi wrote without the entries of containers without
    cards; with `reads_short` such lists count as HAMi reads them.
    """

    def __init__(self, families: Mapping[str, DeviceFamily], *, is_strict: bool = False) -> None:
        self.families = families
        self._is_strict = is_strict
        self.registered: dict[str, dict[str, Inventory]] = {}
        self.foreign: set[str] = set()
        self.tracked: dict[str, Pod] = {}
        self.unpadded: set[str] = set()
        self.reads_short = False
        self.limits = QuotaLimits(families.values())
        self._known = self._ground()
        self._set_up()

    def _ground(self) -> object:
        """Return what a ledger is made for: all that cannot come and go in it."""
        registered = {name: dict(found) for name, found in self.registered.items()}
        return registered, self.limits.scaled(), list(self._standing(self._read))

    def _set_up(self) -> None:
        self.ledger = registered_ledger(self.registered)
        self.ledger.quotas = Quotas(self.limits.scaled())
        for namespace, charges in self._standing(self._read):
            self.ledger.quotas.stand(namespace, charges)
        self.tables = self.tables_over(self.ledger)
        self.classifier = Classifier(self.families, quotas=self.ledger.quotas)

    def tables_over(self, ledger: Ledger) -> Tables:
        """Return class tables over a ledger, by which devices alone decide."""
        return Tables(ledger, Framework(NO_RULES), self.families, is_strict=self._is_strict)

    def track(self, pod: Pod) -> None:
        """Count what the pod holds from now on, if anything that is written of it can be read."""
        self.tracked.pop(pod.uid, None)
        answers = [family.decode(pod) for family in self.families.values()]
        written = [answer for answer in answers if answer is not None]
        if not written or not all(isinstance(answer, Refusal) for answer in written):
            self.tracked[pod.uid] = pod

    def untrack(self, uid: str) -> None:
        """Forget a pod."""
        self.tracked.pop(uid, None)
        self.recount()

    def recount(self) -> None:
        """Bring the ledger up to date with what is registered and tracked."""
        ground = self._ground()
        if self._known != ground:
            self._known = ground
            self._set_up()
        wanted = {each.uid: each for each in self._holdings(self._read)}
        for uid, held in list(self.ledger.holdings.items()):
            if wanted.get(uid) != held:
                self.ledger.release(uid)
        for uid, holding in wanted.items():
            if uid not in self.ledger.holdings:
                self.ledger.hold(holding)

    def as_hami_reads(self) -> Ledger:
        """Return the ledger as it would be if short lists were read as HAMi reads them."""
        ledger = registered_ledger(self.registered)
        for holding in self._holdings(self._read_short):
            ledger.hold(holding)
        return ledger

    def _holdings(self, seen: Seen) -> Iterator[Holding]:
        for pod in self.tracked.values():
            node = pod.annotations[NODE]
            if node in self.registered:
                yield Holding(
                    uid=pod.uid,
                    row=self.ledger.rows[node],
                    shares=tuple(self._shares(pod, node, seen)),
                    namespace=pod.namespace,
                    charges=self._charges(pod, seen),
                )

    def _standing(self, seen: Seen) -> Iterator[tuple[str, AmountList]]:
        """Yield what pods on nodes without devices count for against quotas."""
        for pod in self.tracked.values():
            if pod.annotations[NODE] not in self.registered:
                yield pod.namespace, self._charges(pod, seen)

    def _shares(self, pod: Pod, node: str, seen: Seen) -> Iterator[tuple[str, tuple[Share, ...]]]:
        for family, allocation in self._held(pod, seen):
            inventory = self.registered[node].get(family.name)
            if inventory is not None:
                yield family.name, family.shares(allocation, inventory)

    def _charges(self, pod: Pod, seen: Seen) -> AmountList:
        return tuple(
            pair
            for family, allocation in self._held(pod, seen)
            for pair in family.charges(allocation)
        )

    def _held(self, pod: Pod, seen: Seen) -> Iterator[tuple[DeviceFamily, Allocation]]:
        for family in self.families.values():
            allocation = family.decode(pod)
            if isinstance(allocation, Allocation):
                yield family, seen(pod, allocation, family)

    def _read(self, pod: Pod, allocation: Allocation, family: DeviceFamily) -> Allocation:
        return self._read_short(pod, allocation, family) if self.reads_short else allocation

    def _read_short(self, pod: Pod, allocation: Allocation, family: DeviceFamily) -> Allocation:
        """Return the allocation as HAMi's short list makes it: positions moved to the front."""
        if pod.uid not in self.unpadded:
            return allocation
        read = family.decode(structs.replace(pod, is_init_done=False))
        assert isinstance(read, Allocation)
        moved = tuple(grants for grants in read.containers if grants)
        if pod.is_init_done:
            moved = ((),) * read.init_count + moved[read.init_count :]
        return structs.replace(read, containers=moved)


def registered_ledger(registered: Inventories) -> Ledger:
    """Return a ledger of nodes with these devices, none of them in use."""
    ledger = Ledger()
    for name, inventories in registered.items():
        ledger.add_node(Node(name=name), inventories)
    return ledger
