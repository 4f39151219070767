"""Class tables: one verdict per class and node, refreshed only where nodes changed.

A class's table holds per row the first rule that refuses, its details, and the node score. A look
at it re-evaluates the rows logged in the ledger's change log since the last look (`refreshing`).
Where a family's vector verdict is an upper bound, `place` decides and writes its refusal back.
Scheduler extenders, if there are any to ask, are asked last, about rows that nobody else refuses.

Tables are bounded, rebuilt at will and never a source of truth: without keeping any, every answer is
the same.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.exact import ANSWERS_MAX, ExactFit
from springtide.engine.placement.extenders import Extenders
from springtide.engine.placement.family import Ask, DeviceFamily, Rows
from springtide.engine.placement.grounds import Grounds
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.policy import PolicyTable
from springtide.engine.placement.quota import may_bind
from springtide.engine.placement.refreshing import Refresher
from springtide.engine.placement.refusing import Refusals
from springtide.engine.placement.table import (
    EXACT,
    FITS,
    Table,
)
from springtide.model.device import Allocation, DeviceView, Share
from springtide.model.ledger import Ledger
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import HeldClaim
from springtide.model.resources import AmountList

CELLS_MAX: Final = 8_000_000
"""Rows of all tables together, each of some twenty bytes: tables seen longest ago go first."""
TABLES_MIN: Final = 64


class Tables:
    """The verdicts of all classes over one ledger."""

    def __init__(
        self,
        ledger: Ledger,
        framework: Framework,
        families: Mapping[str, DeviceFamily],
        *,
        by_scheduler: Mapping[str, Framework] = MappingProxyType({}),
        extenders: Extenders | None = None,
        policies: PolicyTable | None = None,
        is_kept: bool = True,
        is_strict: bool = False,
        cells_max: int = CELLS_MAX,
        answers_max: int = ANSWERS_MAX,
    ) -> None:
        """Judge by the framework of the scheduler that a pod names, or else by the first one.

        All tables together have `cells_max` rows at most, unless that is less than a few tables'. So many
        answers of exact placements are kept.
        Unless `is_kept`, nothing outlives a change of the ledger, and every look judges all rows.
        Strictly, the devices of all families count for a node's score, as they do in HAMi.
        """
        self.ledger = ledger
        self.framework = framework
        self.families = families
        self._extenders = extenders
        self._is_kept = is_kept
        self._cells_max = cells_max
        self._tables: OrderedDict[PodClass, Table] = OrderedDict()
        self._grounds = Grounds(
            ledger=ledger,
            framework=framework,
            families=families,
            by_scheduler=by_scheduler,
            policies=PolicyTable({}) if policies is None else policies,
            is_strict=is_strict,
        )
        self._refresher = Refresher(self._grounds)
        self._exact = ExactFit(self._grounds, answers_max=answers_max)
        self._refusals = Refusals(self._grounds, self._exact)

    def framework_of(self, pod_class: PodClass) -> Framework:
        """Return the framework that judges pods of this class."""
        return self._grounds.framework_of(pod_class)

    def asks_of(self, pod_class: PodClass) -> tuple[Ask, ...]:
        """Return the asks of the class, bounded by what the quota of its namespace leaves now."""
        return self._grounds.asks_of(pod_class)

    def claims_devices(self, pod_class: PodClass) -> bool:
        """Return whether devices have to be found for claims of the pods."""
        return self.framework_of(pod_class).device_rule.is_asked(pod_class.framework)

    @property
    def has_shared_devices(self) -> bool:
        """Return whether there are devices that several nodes reach."""
        return self.framework.device_rule.has_shared_devices

    def reads_elsewhere(self, pod_class: PodClass) -> bool:
        """Return whether devices that one pod is given may decide about others on other nodes."""
        return self.framework_of(pod_class).device_rule.reads_elsewhere(pod_class.framework)

    # Looking

    def table(self, pod_class: PodClass) -> Table:
        """Return the class's table, up to date with the ledger."""
        table = self._judged(pod_class)
        if self._extenders is not None and pod_class.appearance:
            self._ask(table, self._extenders)
        return table

    def ask_ahead(self, classes: Iterable[PodClass]) -> None:
        """Ask extenders about all of these classes at once, which takes less time than in turn."""
        if self._extenders is None:
            return
        tables = [self._judged(each) for each in dict.fromkeys(classes) if each.appearance]
        self._extenders.learn(
            [(table.pod_class, self._nodes(self._unasked(table))) for table in tables]
        )

    def _judged(self, pod_class: PodClass) -> Table:
        """Return the class's table as far as extenders are not needed for it."""
        table = self._tables.get(pod_class)
        position = self.ledger.changes.position
        if table is not None and table.position == position and table.is_scored:
            return table
        if table is None or not self._is_kept:
            table = self._new(pod_class)
        else:
            self._tables.move_to_end(pod_class)
        self._refresher.refresh(table)
        return table

    def _new(self, pod_class: PodClass) -> Table:
        policy = self._grounds.policies.for_nodes(pod_class)
        table = Table(pod_class, len(self.ledger.born), policy=policy)
        self._tables[pod_class] = table
        self._refresher.bind(table)
        while len(self._tables) > max(self._cells_max // len(self.ledger.born), TABLES_MIN):
            self._tables.popitem(last=False)
        return table

    def told(self, pod_class: PodClass) -> Table:
        """Return the class's table with the codes of all devices that have been judged."""
        table = self.table(pod_class)
        self._refresher.tell(table)
        return table

    def candidates(self, pod_class: PodClass) -> Rows:
        """Return the rows that fit as far as vectors can tell, ascending."""
        table = self.table(pod_class)
        return np.flatnonzero(table.code[: self.ledger.count] == FITS)

    def first_fit(self, pod_class: PodClass, rows: Iterable[int]) -> Placement | None:
        """Return the placement on the first of these rows that takes the pod, or None."""
        for row in rows:
            placement = self.place(pod_class, int(row))
            if isinstance(placement, Placement):
                return placement
        return None

    def place(self, pod_class: PodClass, row: int) -> Placement | Refusal:
        """Return the exact placement of a pod of this class on a row, or why there is none."""
        table = self.table(pod_class)
        if table.code[row] != FITS:
            return self.refusal(pod_class, row)
        answer = self.allocate(pod_class, row)
        if isinstance(answer, Refusal):
            table.refuse(row, answer)
        return answer

    def prove(self, pod_class: PodClass, rows: Rows) -> None:
        """Ask these rows exactly whether they take a pod of this class, and remember which do."""
        table = self.table(pod_class)
        for row in rows.tolist():
            if isinstance(self.place(pod_class, row), Placement):
                table.prove(row)

    def allocate(self, pod_class: PodClass, row: int) -> Placement | Refusal:
        """Return what a row's devices give, or their refusal; no other rule is asked."""
        claims = self._claimed(pod_class, row)
        if isinstance(claims, Refusal):
            return claims
        allocations: list[Allocation] = []
        shares: list[tuple[str, tuple[Share, ...]]] = []
        for ask in self.asks_of(pod_class):
            answer = self._exact.on_row(ask, row)
            if isinstance(answer, Refusal):
                return answer
            inventory = self.ledger.devices[ask.family].inventory_at(row)
            assert inventory is not None
            allocations.append(answer)
            shares.append((ask.family, self.families[ask.family].shares(answer, inventory)))
        return Placement(
            row=row,
            allocations=tuple(allocations),
            shares=tuple(shares),
            device_claims=claims,
            charges=self.charges(allocations) if pod_class.quota else (),
        )

    def quotas_bind(self, wanted: Iterable[tuple[PodClass, int]]) -> bool:
        """Return whether so many pods of these classes may come upon the quotas of their namespaces."""
        pods = [(each.quota, each.asks, count) for each, count in wanted if each.quota]
        return bool(pods) and may_bind(pods, ledger=self.ledger, families=self.families)

    def charges(self, allocations: Iterable[Allocation]) -> AmountList:
        """Return what these allocations count for against a quota."""
        return tuple(
            pair for each in allocations for pair in self.families[each.family].charges(each)
        )

    def _claimed(self, pod_class: PodClass, row: int) -> tuple[HeldClaim, ...] | Refusal:
        rule = self.framework_of(pod_class).device_rule
        if not rule.is_asked(pod_class.framework):
            return ()
        table = self.table(pod_class)
        assert table.prepared is not None
        found = self.framework_of(pod_class).devices_on(table.prepared, self.ledger, row)
        return rule.refusal if found is None else found

    def claims_shortfall(self, pod_class: PodClass, row: int) -> str:
        """Return which request for devices this row cannot meet, for people."""
        table = self.table(pod_class)
        assert table.prepared is not None
        _, check = self.framework_of(pod_class).claims_check(table.prepared)
        return "" if check is None else check.shortfall(self.ledger, row)

    def with_code(self, pod_class: PodClass, code: int, *, below: int) -> list[int]:
        """Return the rows below one that the framework's rule of this code refuses."""
        return np.flatnonzero(self.table(pod_class).code[:below] == code).tolist()

    def refusal(self, pod_class: PodClass, row: int) -> Refusal:
        """Return why this row refuses the class; the row must refuse."""
        return self._refusals.of(self.told(pod_class), row)

    def histogram(self, pod_class: PodClass, *, below: int) -> list[tuple[Refusal, int]]:
        """Return the distinct refusals of the rows below one, with how many rows each has."""
        found = self._refusals.grouped(self.told(pod_class), below=below).items()
        counts = [(refusal, sum(map(len, groups))) for refusal, groups in found]
        return sorted(counts, key=lambda item: (-item[1], item[0].text))

    def refusals(self, pod_class: PodClass, *, below: int) -> dict[Refusal, list[int]]:
        """Return the distinct refusals of the rows below one, each with its rows, ascending."""
        found = self._refusals.grouped(self.told(pod_class), below=below).items()
        return {refusal: np.sort(np.concatenate(groups)).tolist() for refusal, groups in found}

    def promising(self, pod_class: PodClass, *, below: int) -> Rows:
        """Return the rows below one that refuse, but where evicting pods could help."""
        table = self.table(pod_class)
        worth = (table.code[:below] != FITS) & ~table.lasting(below)
        for row, refusal in table.exact.items():
            if refusal.is_unresolvable and row < below and table.code[row] == EXACT:
                worth[row] = False
        return np.flatnonzero(worth)

    # Scheduler extenders

    def _ask(self, table: Table, extenders: Extenders) -> None:
        """Let extenders judge the rows that are left; what they said of a node stands."""
        if table.asked_at == table.position:
            return
        table.asked_at = table.position
        rows = self._unasked(table)
        if not len(rows):
            return
        answers = extenders.answers(table.pod_class, self._nodes(rows))
        for row, answer in zip(rows.tolist(), answers, strict=True):
            if answer is None:
                table.agreed[row] = True
            else:
                table.refuse(row, answer)

    def _unasked(self, table: Table) -> Rows:
        count = self.ledger.count
        return np.flatnonzero((table.code[:count] == FITS) & ~table.agreed[:count])

    def _nodes(self, rows: Rows) -> list[str]:
        """Return what extenders call the nodes of these rows: copies of a template are one node."""
        return [self.ledger.nodes[row].name for row in rows.tolist()]

    # Devices

    def place_on(self, ask: Ask, view: DeviceView) -> Allocation | Refusal:
        """Return the exact placement on a view."""
        return self._exact.on(ask, view)
