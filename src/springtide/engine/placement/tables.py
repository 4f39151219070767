"""Class tables: one verdict per class and node, refreshed only where nodes changed.

A class's table holds per row the first rule that refuses, its details, and the node score. A look
at it re-evaluates the rows logged in the ledger's change log since the last look, in one vector
call. Framework rules come first; device families judge the rows that are left. Where a family's
vector verdict is an upper bound, `place` decides and writes its refusal back. What rules say that
read other nodes changes anywhere, so it lies over the rest and is worked out anew at each look.
Scheduler extenders, if there are any to ask, are asked last, about rows that nobody else refuses.

Tables are bounded, rebuilt at will and never a source of truth: without keeping any, every answer is
the same.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
import numpy as np

from springtide.engine.framework.framework import Framework, PreparedAsk
from springtide.engine.framework.verdicts import PASSES, Verdicts, chosen
from springtide.engine.placement.alike import equal_rows
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.extenders import Extenders
from springtide.engine.placement.family import Ask, DeviceFamily, Rows
from springtide.engine.placement.policy import PolicyTable, Ranks
from springtide.engine.placement.screening import Screen
from springtide.engine.placement.table import (
    CLOSED,
    DEVICES,
    DEVICES_INEXACT,
    EXACT,
    FITS,
    SENSELESS,
    UNREGISTERED,
    Table,
)
from springtide.engine.placement.unregistered import unregistered
from springtide.model.columns import Bool, DeviceColumns
from springtide.model.device import Allocation, DeviceView, Share
from springtide.model.ledger import Holding, Ledger
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import HeldClaim

CELLS_MAX: Final = 8_000_000
"""Rows of all tables together, each of some twenty bytes: tables seen longest ago go first."""
TABLES_MIN: Final = 64
EXACT_MEMO_MAX: Final = 65_536

Evaluate = Callable[[PreparedAsk, Ledger, Rows], Verdicts]


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Where one pod of a class goes: the row, and what it and its claims get of devices."""

    row: int
    allocations: tuple[Allocation, ...] = ()
    shares: tuple[tuple[str, tuple[Share, ...]], ...] = ()
    device_claims: tuple[HeldClaim, ...] = ()


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
        cells_max: int = CELLS_MAX,
    ) -> None:
        """Judge by the framework of the scheduler that a pod names, or else by the first one.

        All tables together have `cells_max` rows at most, unless that is less than a few tables'.
        Unless `is_kept`, nothing outlives a change of the ledger, and every look judges all rows.
        """
        self.ledger = ledger
        self.framework = framework
        self.families = families
        self._by_scheduler = by_scheduler
        self._extenders = extenders
        self._policies = PolicyTable({}) if policies is None else policies
        self._is_kept = is_kept
        self._cells_max = cells_max
        self._tables: OrderedDict[PodClass, Table] = OrderedDict()
        self._memo: dict[tuple[Ask, DeviceView, Ranks], Allocation | Refusal] = {}

    def framework_of(self, pod_class: PodClass) -> Framework:
        """Return the framework that judges pods of this class."""
        if not self._by_scheduler:
            return self.framework
        return self._by_scheduler.get(pod_class.framework.spec.scheduler_name, self.framework)

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
        self._refresh(table)
        return table

    def _new(self, pod_class: PodClass) -> Table:
        screens = tuple(map(self._screen, pod_class.asks))
        policy = self._policies.for_nodes(pod_class)
        table = Table(pod_class, len(self.ledger.born), screens, policy=policy)
        self._tables[pod_class] = table
        while len(self._tables) > max(self._cells_max // len(self.ledger.born), TABLES_MIN):
            self._tables.popitem(last=False)
        return table

    def _screen(self, ask: Ask) -> Screen | None:
        family = self.families.get(ask.family)
        return None if family is None else family.screen(ask)

    def told(self, pod_class: PodClass) -> Table:
        """Return the class's table with the codes of all devices that have been judged."""
        table = self.table(pod_class)
        count = self.ledger.count
        by_devices = np.isin(table.code[:count], (FITS, DEVICES, EXACT))
        rows = np.flatnonzero(table.untold[:count] & by_devices)
        for index, ask in enumerate(pod_class.asks):
            own = rows[table.family[rows] == index]
            if len(own):
                self._tell(table, ask, own)
        return table

    def _tell(self, table: Table, ask: Ask, rows: Rows) -> None:
        columns = self.ledger.devices[ask.family]
        verdicts = self.families[ask.family].evaluate(ask, columns, rows)
        is_short = table.code[rows] == DEVICES
        assert (verdicts.fits != is_short).all(), "a screen says otherwise than the verdict"
        table.tell(rows, verdicts.codes)
        table.code[rows[is_short & ~verdicts.is_exact]] = DEVICES_INEXACT

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

    def allocate(self, pod_class: PodClass, row: int) -> Placement | Refusal:
        """Return what a row's devices give, or their refusal; no other rule is asked."""
        claims = self._claimed(pod_class, row)
        if isinstance(claims, Refusal):
            return claims
        allocations: list[Allocation] = []
        shares: list[tuple[str, tuple[Share, ...]]] = []
        for ask in pod_class.asks:
            answer = self._place_exactly(ask, row)
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
        table = self.told(pod_class)
        code = int(table.code[row])
        assert code != FITS
        ask = pod_class.asks[int(table.family[row])] if pod_class.asks else None
        match code:
            case _ if code == EXACT:
                return table.exact[row]
            case _ if code == SENSELESS:
                assert pod_class.refusal is not None
                return pod_class.refusal
            case _ if ask is not None and code >= UNREGISTERED:
                return self._device_refusal(table, ask, row)
            case _:
                assert table.prepared is not None
                return self.framework_of(pod_class).refusal(
                    table.prepared, code, int(table.detail[row]), bool(table.unresolvable[row])
                )

    def histogram(self, pod_class: PodClass, *, below: int) -> list[tuple[Refusal, int]]:
        """Return the distinct refusals of the rows below one, with how many rows each has."""
        found = self._refusing(pod_class, below=below).items()
        counts = [(refusal, sum(map(len, groups))) for refusal, groups in found]
        return sorted(counts, key=lambda item: (-item[1], item[0].text))

    def refusals(self, pod_class: PodClass, *, below: int) -> dict[Refusal, list[int]]:
        """Return the distinct refusals of the rows below one, each with its rows, ascending."""
        found = self._refusing(pod_class, below=below).items()
        return {refusal: np.sort(np.concatenate(groups)).tolist() for refusal, groups in found}

    def _refusing(self, pod_class: PodClass, *, below: int) -> dict[Refusal, list[Rows]]:
        """Return the distinct refusals of the rows below one, each with groups of its rows."""
        table = self.told(pod_class)
        found: dict[Refusal, list[Rows]] = {}
        for group in equal_rows(table, below):
            found.setdefault(self.refusal(pod_class, int(group[0])), []).append(group)
        return found

    def promising(self, pod_class: PodClass, *, below: int) -> Rows:
        """Return the rows below one that refuse, but where evicting pods could help."""
        table = self.table(pod_class)
        worth = (table.code[:below] != FITS) & ~table.unresolvable[:below]
        for row, refusal in table.exact.items():
            if refusal.is_unresolvable and row < below and table.code[row] == EXACT:
                worth[row] = False
        return np.flatnonzero(worth)

    # Refreshing

    def _refresh(self, table: Table) -> None:
        ledger = self.ledger
        seen, table.position = table.position, ledger.changes.position
        if seen == table.position and table.is_scored:
            return
        framework = self.framework_of(table.pod_class)
        if len(table.code) < len(ledger.born):
            table.grow(len(ledger.born))
        ask, prepared = table.pod_class.framework, table.prepared
        if prepared is None:
            is_anew, prepared = True, framework.prepare(ask, ledger)
        else:
            before, prepared = prepared, framework.prepare_again(prepared, ask, ledger)
            is_anew = not before.lasts_by_row or before.elsewhere != prepared.elsewhere
        table.prepared = prepared
        table.uncover()
        if is_anew or seen != table.position:
            self._refresh_rows(table, -1 if is_anew else seen)
        if not table.is_scored:
            self._score_anew(table)
        if prepared.cluster_checks:
            self._cover(table, prepared)

    def _score_anew(self, table: Table) -> None:
        """Score all rows that fit, since the policy has changed its mind."""
        assert table.policy is not None
        table.scored_by = table.policy.version
        rows = np.flatnonzero(table.code[: self.ledger.count] == FITS)
        self._score(table, rows)
        table.prefer(rows, among=rows)

    def _score(self, table: Table, rows: Rows) -> None:
        """Let the policy score rows that fit, unless all rows will be scored anyway."""
        if table.policy is not None and table.is_scored and len(rows):
            table.score[rows] = table.policy.scores(table.pod_class, self.ledger, rows)

    def _refresh_rows(self, table: Table, seen: int) -> None:
        ledger, framework = self.ledger, self.framework_of(table.pod_class)
        if seen < 0:
            table.agreed[:] = False
            self._evaluate_nodes(table, np.arange(ledger.count))
            return
        rows = ledger.changes.since(seen).astype(np.intp)
        if rows[-1] >= ledger.count:
            rows = rows[rows < ledger.count]
        if ledger.last_born >= seen:
            is_known = ledger.born[rows] < seen
            table.agreed[rows[~is_known]] = False
            self._evaluate_nodes(table, rows[~is_known])
            rows = rows[is_known]
        if table.has_settled:
            rows = rows[~table.settled.take(rows)]
        self._evaluate(table, rows, evaluate=framework.evaluate_usage)

    def _evaluate_nodes(self, table: Table, rows: Rows) -> None:
        """Judge rows that are new; what their nodes' own records decide stands from then on."""
        framework = self.framework_of(table.pod_class)
        self._evaluate(table, rows, evaluate=framework.evaluate_node)
        codes = table.code.take(rows)
        table.settled[rows] = framework.is_settled(codes) | (codes == UNREGISTERED)
        table.has_settled = bool(table.settled[: self.ledger.count].any())

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

    def _cover(self, table: Table, prepared: PreparedAsk) -> None:
        """Let rules over other nodes overrule what comes after them in official order."""
        code = table.code[: self.ledger.count]
        rows = np.flatnonzero((code == FITS) | (code > prepared.cluster_checks[0][0]))
        if not len(rows):
            return
        framework = self.framework_of(table.pod_class)
        verdicts = framework.evaluate_cluster(prepared, self.ledger, rows)
        own = table.code[rows]
        overruled = (verdicts.rule != PASSES) & ((own == FITS) | (own > verdicts.rule))
        if overruled.any():
            table.cover(rows[overruled], chosen(verdicts, overruled))

    def _evaluate(self, table: Table, rows: Rows, *, evaluate: Evaluate) -> None:
        if not len(rows):
            return
        assert table.prepared is not None
        table.forget_exact(rows)
        verdicts = evaluate(table.prepared, self.ledger, rows)
        table.code[rows] = verdicts.rule
        table.detail[rows] = verdicts.detail
        table.unresolvable[rows] = verdicts.unresolvable
        left = rows[verdicts.rule == PASSES]
        if table.pod_class.refusal is not None:
            table.code[left] = SENSELESS
            left = left[:0]
        for index, ask in enumerate(table.pod_class.asks):
            if len(left):
                left = self._evaluate_devices(table, index, ask, left)
        self._score(table, left)
        table.prefer(left, among=rows)

    def _evaluate_devices(self, table: Table, index: int, ask: Ask, rows: Rows) -> Rows:
        """Judge by the devices of one family, score the rows that they leave, and return these."""
        if table.has_families:
            table.family[rows] = index
        columns = self.ledger.devices.get(ask.family)
        if columns is None:
            table.code[rows] = UNREGISTERED
            return rows[:0]
        if columns.closed:
            is_closed = np.fromiter((row in columns.closed for row in rows), np.bool_, len(rows))
            table.code[rows[is_closed]] = CLOSED
            rows = rows[~is_closed]
        is_registered = columns.kind.take(rows) >= 0
        if np.count_nonzero(is_registered) < len(rows):
            table.code[rows[~is_registered]] = UNREGISTERED
            rows = rows[is_registered]
        if not len(rows):
            return rows
        family, screen = self.families[ask.family], table.screens[index]
        if screen is None:
            fits = self._evaluate_fully(table, ask, rows)
        else:
            fits = screen.fits(columns, rows)
            table.untold[rows] = True
            if np.count_nonzero(fits) < len(rows):
                table.code[rows[~fits]] = DEVICES
        rows = rows[fits]
        if table.policy is None:
            table.score[rows] = family.scores(ask, columns, rows)
        return rows

    def _evaluate_fully(self, table: Table, ask: Ask, rows: Rows) -> Bool:
        columns = self.ledger.devices[ask.family]
        verdicts = self.families[ask.family].evaluate(ask, columns, rows)
        table.tell(rows, verdicts.codes)
        refused = ~verdicts.fits
        table.code[rows[refused & verdicts.is_exact]] = DEVICES
        table.code[rows[refused & ~verdicts.is_exact]] = DEVICES_INEXACT
        return verdicts.fits

    # Devices

    def _place_exactly(self, ask: Ask, row: int) -> Allocation | Refusal:
        view = self.ledger.view(row, ask.family)
        assert view is not None
        return self.place_on(ask, view)

    def place_on(self, ask: Ask, view: DeviceView) -> Allocation | Refusal:
        """Return the exact placement on a view; equal questions are answered once."""
        policy = self._policies.for_devices(ask)
        ranks = () if policy is None else policy.ranks(ask, view)
        key = (ask, view, ranks)
        answer = self._memo.get(key)
        if answer is None:
            if len(self._memo) >= EXACT_MEMO_MAX:
                self._memo.clear()
            answer = self._memo[key] = self.families[ask.family].place(ask, view, ranks=ranks)
        return answer

    def _device_refusal(self, table: Table, ask: Ask, row: int) -> Refusal:
        code = int(table.code[row])
        columns = self.ledger.devices.get(ask.family)
        if code == UNREGISTERED or columns is None:
            return unregistered(ask.family)
        if code == CLOSED:
            return _closed(columns, row)
        if code == DEVICES:
            width = columns.width
            return self.families[ask.family].refusal(ask, table.device_codes[row, :width])
        answer = self._place_exactly(ask, row)
        assert isinstance(answer, Refusal), "a family's vector verdict refuses what it can place"
        table.refuse(row, answer)
        return answer


def holding(uid: str, pod_class: PodClass, placement: Placement) -> Holding:
    """Return what a pod of this class holds once it is placed."""
    return Holding(
        uid=uid,
        row=placement.row,
        amounts=pod_class.amounts,
        ports=pod_class.ports,
        shares=placement.shares,
        claims=pod_class.claims,
        disks=pod_class.disks,
        presence=pod_class.presence,
        device_claims=placement.device_claims,
        unstated=pod_class.unstated,
    )


def _closed(columns: DeviceColumns, row: int) -> Refusal:
    whys = columns.closed[row]
    return Refusal(rule=columns.family, reasons=tuple(sorted(set(whys.values()))))
