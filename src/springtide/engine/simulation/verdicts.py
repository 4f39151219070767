"""What the nodes of a session say to pods: kept per class of pods, refreshed where nodes have changed.

The same answers as those of the judge, for all rows at once: a vector verdict that is but an upper bound is
confirmed by an exact placement, once as long as the node stays as it is.
"""

from typing import Final
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask, Rows
from springtide.engine.placement.table import FITS, Table
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.judge import DEVICES_ALONE, Fit, Judge
from springtide.model.columns import Bool
from springtide.model.device import DeviceView
from springtide.model.ledger import Ledger
from springtide.model.refusal import Refusal

CELLS_MAX: Final = 2_000_000
"""Rows of all tables of one session together."""
SAID_BY_NODE: Final = ""
"""Stands for a pod where the node itself closes its devices: its registration is of no use."""


class Refusing(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that refuse for one reason; evicting pods cannot help the unresolvable."""

    reason: str
    is_unresolvable: bool
    rows: Rows


class Verdicts:
    """The verdicts of all classes over the ledger of one session."""

    def __init__(self, ledger: Ledger, judge: Judge) -> None:
        self._ledger = ledger
        self._judge = judge
        self._tables = Tables(
            ledger,
            Framework(DEVICES_ALONE),
            judge.families,
            policies=judge.policies,
            cells_max=CELLS_MAX,
        )
        self._confirmed: WeakKeyDictionary[Table, int] = WeakKeyDictionary()

    def answer(self, pod_class: PodClass, row: int) -> Fit | Refusal:
        """Return what a pod of this class gets on a row, or why it does not fit there."""
        return self._judge.answer(pod_class, lambda family: self.devices(row, family))

    def devices(self, row: int, family: str) -> DeviceView | Refusal:
        """Return what a row has of a family, or why it takes no pod of the family."""
        columns = self._ledger.devices.get(family)
        closed = None if columns is None else columns.closed.get(row)
        if closed:
            return Refusal(
                rule=family,
                reasons=tuple(sorted(set(closed.values()))),
                is_unresolvable=SAID_BY_NODE in closed,
            )
        view = None if columns is None else columns.view(row)
        return self._judge.unregistered[family] if view is None else view

    def fitting(self, pod_class: PodClass, rows: Rows) -> Bool:
        """Return which of these rows take such a pod."""
        fits: Bool = self._confirm(pod_class).code.take(rows) == FITS
        return fits

    def _confirm(self, pod_class: PodClass) -> Table:
        """Return the table of a class with no row that says it fits and does not after all."""
        table = self._tables.table(pod_class)
        changes = self._ledger.changes
        seen = self._confirmed.get(table, -1)
        if seen == changes.position:
            return table
        self._confirmed[table] = changes.position
        if seen < changes.start:
            rows = np.arange(self._ledger.count)
        else:
            rows = changes.since(seen).astype(np.intp)
            rows = rows[rows < self._ledger.count]
        rows = rows[table.code.take(rows) == FITS]
        for row in rows[self._are_open(table, rows)].tolist():
            self._tables.place(pod_class, row)
        return table

    def _are_open(self, table: Table, rows: Rows) -> Bool:
        """Return of which of these rows the verdict is but an upper bound."""
        is_open = np.zeros(len(rows), np.bool_)
        if not len(rows):
            return is_open
        for ask in table.asks:
            columns = self._ledger.devices[ask.family]
            is_open |= ~self._judge.families[ask.family].evaluate(ask, columns, rows).is_exact
        return is_open

    def refusing(self, pod_class: PodClass, rows: Rows) -> tuple[Refusing, ...]:
        """Return why these rows, none of which takes such a pod, refuse it."""
        below = self._ledger.count
        which = np.full(below, -1, np.intp)
        texts: list[str] = []
        for refusal, refusing in self._tables.refusals(pod_class, below=below).items():
            which[refusing] = len(texts)
            texts.append(refusal.text)
        kinds = 2 * which[rows] + self._lasting(pod_class, rows)
        return tuple(
            Refusing(
                reason=texts[kind // 2], is_unresolvable=bool(kind % 2), rows=rows[kinds == kind]
            )
            for kind in dict.fromkeys(kinds.tolist())
        )

    def _lasting(self, pod_class: PodClass, rows: Rows) -> Bool:
        """Return which of these rows would refuse the pod even if nobody were on them."""
        if pod_class.refusal is not None:
            return np.ones(len(rows), np.bool_)
        codes = self._tables.table(pod_class).family.take(rows)
        lasting = np.zeros(len(rows), np.bool_)
        for index, ask in enumerate(pod_class.asks):
            own = codes == index
            lasting[own] = self._refuse_always(ask, rows[own])
        return lasting

    def _refuse_always(self, ask: Ask, rows: Rows) -> Bool:
        """Return which rows refuse what is asked of a family, whoever is on them."""
        columns = self._ledger.devices.get(ask.family)
        if columns is None:
            return np.ones(len(rows), np.bool_)
        codes, kinds = (
            (columns.inventory, columns.inventories.values)
            if ask.reads_ids
            else (columns.kind, columns.kinds)
        )
        codes = codes.take(rows)
        always = codes < 0
        for code in dict.fromkeys(codes[~always].tolist()):
            if self._judge.is_hopeless(ask, kinds[code]):
                always |= codes == code
        for place, row in enumerate(rows.tolist()) if columns.closed else ():
            closed = columns.closed.get(row)
            if closed:
                always[place] = SAID_BY_NODE in closed
        return always
