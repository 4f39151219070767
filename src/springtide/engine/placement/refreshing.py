"""How a class's table is brought up to date: the rows that have changed are judged anew, in vector calls.

Framework rules come first; device families judge the rows that are left, and the rest is scored. What
rules say that read other nodes may change anywhere, so it lies over the rest and is worked out anew.
"""

from collections.abc import Callable, Sequence

import numpy as np

from springtide.engine.framework.framework import PreparedAsk
from springtide.engine.framework.verdicts import PASSES, Verdicts, chosen
from springtide.engine.placement.family import Ask, Rows
from springtide.engine.placement.grounds import Grounds
from springtide.engine.placement.screening import Screen
from springtide.engine.placement.shared_nodes import loads_of_all
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
from springtide.model.columns import Bool, Float32
from springtide.model.ledger import Ledger

Evaluate = Callable[[PreparedAsk, Ledger, Rows], Verdicts]


class Refresher:
    """Judges the rows of any class's table."""

    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self._ledger = grounds.ledger
        self._families = grounds.families

    def refresh(self, table: Table) -> None:
        """Bring a table up to date with the ledger."""
        ledger = self._ledger
        seen, table.position = table.position, ledger.changes.position
        if seen == table.position and table.is_scored:
            return
        framework = self._grounds.framework_of(table.pod_class)
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
        is_anew = is_anew or seen < ledger.changes.start
        is_whole = bool(table.pod_class.quota) and self.bind(table)
        self._refresh_rows(table, -1 if is_anew else seen, whole=is_whole)
        if not table.is_scored:
            self._score_anew(table)
        if prepared.cluster_checks:
            self._cover(table, prepared)

    def bind(self, table: Table) -> bool:
        """Let the table follow what quotas leave to its pods, and return whether that has changed."""
        asks = self._grounds.asks_of(table.pod_class)
        if asks == table.asks and len(table.screens) == len(asks):
            return False
        table.asks, table.screens = asks, tuple(map(self._screen, asks))
        return True

    def _screen(self, ask: Ask) -> Screen | None:
        family = self._families.get(ask.family)
        return None if family is None else family.screen(ask)

    def _score_anew(self, table: Table) -> None:
        """Score all rows that fit, since the policy has changed its mind."""
        assert table.policy is not None
        table.scored_by = table.policy.version
        rows = np.flatnonzero(table.code[: self._ledger.count] == FITS)
        if len(rows):
            table.rank[rows] = self._scores(table, rows)

    def _refresh_rows(self, table: Table, seen: int, *, whole: bool) -> None:
        """Judge the rows anew that have changed, or the whole table."""
        ledger, framework = self._ledger, self._grounds.framework_of(table.pod_class)
        if seen < 0:
            table.agreed[:] = False
            self._evaluate_nodes(table, np.arange(ledger.count))
            return
        rows = np.arange(ledger.count) if whole else ledger.changes.since(seen).astype(np.intp)
        if not len(rows):
            return
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
        framework = self._grounds.framework_of(table.pod_class)
        self._evaluate(table, rows, evaluate=framework.evaluate_node)
        table.settled[rows] = framework.is_settled(table.code.take(rows))
        table.has_settled = bool(table.settled[: self._ledger.count].any())

    def _cover(self, table: Table, prepared: PreparedAsk) -> None:
        """Let rules over other nodes overrule what comes after them in official order."""
        code = table.code[: self._ledger.count]
        rows = np.flatnonzero((code == FITS) | (code > prepared.cluster_checks[0][0]))
        if not len(rows):
            return
        framework = self._grounds.framework_of(table.pod_class)
        verdicts = framework.evaluate_cluster(prepared, self._ledger, rows)
        own = table.code[rows]
        overruled = (verdicts.rule != PASSES) & ((own == FITS) | (own > verdicts.rule))
        if overruled.any():
            table.cover(rows[overruled], chosen(verdicts, overruled))

    def _evaluate(self, table: Table, rows: Rows, *, evaluate: Evaluate) -> None:
        if not len(rows):
            return
        assert table.prepared is not None
        table.forget_exact(rows)
        left = table.judge(rows, evaluate(table.prepared, self._ledger, rows))
        if table.pod_class.refusal is not None:
            table.code[left] = SENSELESS
            return
        for index, ask in enumerate(table.asks):
            if len(left):
                left = self._fitting(table, index, ask, left)
        if len(left) and table.is_scored:
            table.rank[left] = self._scores(table, left)

    def _fitting(self, table: Table, index: int, ask: Ask, rows: Rows) -> Rows:
        """Judge by the devices of one family, and return the rows that have enough of them."""
        if table.has_families:
            table.family[rows] = index
        columns = self._ledger.devices.get(ask.family)
        if columns is None:
            table.code[rows] = UNREGISTERED
            return rows[:0]
        if columns.closed:
            is_closed = np.fromiter((row in columns.closed for row in rows), np.bool_, len(rows))
            table.code[rows[is_closed]] = CLOSED
            rows = rows[~is_closed]
        kinds = columns.kind.take(rows)
        is_registered = kinds >= 0
        if np.count_nonzero(is_registered) < len(rows):
            table.code[rows[~is_registered]] = UNREGISTERED
            rows, kinds = rows[is_registered], kinds[is_registered]
        if not len(rows):
            return rows
        screen = table.screens[index]
        if screen is None:
            fits = self._evaluate_fully(table, ask, rows)
        else:
            fits = screen.fits(columns, rows, kinds=kinds)
            table.forget_told(rows)
            if np.count_nonzero(fits) == len(rows):
                return rows
            table.code[rows[~fits]] = DEVICES
        return rows[fits]

    def _evaluate_fully(self, table: Table, ask: Ask, rows: Rows) -> Bool:
        columns = self._ledger.devices[ask.family]
        verdicts = self._families[ask.family].evaluate(ask, columns, rows)
        table.tell(rows, verdicts.codes)
        refused = ~verdicts.fits
        table.code[rows[refused & verdicts.is_exact]] = DEVICES
        table.code[rows[refused & ~verdicts.is_exact]] = DEVICES_INEXACT
        return verdicts.fits

    def _scores(self, table: Table, rows: Rows) -> Float32:
        """Return the scores of rows that fit: the policy's, or else the last family's."""
        ledger, asks = self._ledger, table.asks
        if table.policy is not None:
            return table.policy.scores(table.pod_class, ledger, rows)
        if not asks:
            return np.zeros(len(rows), np.float32)
        if self._grounds.is_strict:
            return self._strict_scores(asks, rows)
        columns = ledger.devices[asks[-1].family]
        family = self._families[columns.family]
        return family.scores(asks[-1], columns, rows, loads=columns.load.take(rows))

    def _strict_scores(self, asks: Sequence[Ask], rows: Rows) -> Float32:
        """Return what the last family says; each adds to the load what the ones before it have added."""
        scores = loads_of_all(self._ledger.devices.values(), rows)
        for ask in asks:
            columns = self._ledger.devices[ask.family]
            loads = np.abs(scores)
            scores = self._families[ask.family].scores(ask, columns, rows, loads=loads)
        return scores

    def tell(self, table: Table) -> None:
        """Store the codes of all devices that have been judged and not told yet."""
        if not table.asks:
            return
        count = self._ledger.count
        code = table.code[:count]
        by_devices = (code == FITS) | (code == DEVICES) | (code == EXACT)
        rows = np.flatnonzero(~table.told[:count] & by_devices)
        for index, ask in enumerate(table.asks):
            own = rows[table.family[rows] == index]
            if len(own):
                self._tell(table, ask, own)

    def _tell(self, table: Table, ask: Ask, rows: Rows) -> None:
        columns = self._ledger.devices[ask.family]
        verdicts = self._families[ask.family].evaluate(ask, columns, rows)
        is_short = table.code[rows] == DEVICES
        assert (verdicts.fits != is_short).all(), "a screen says otherwise than the verdict"
        table.tell(rows, verdicts.codes)
        table.code[rows[is_short & ~verdicts.is_exact]] = DEVICES_INEXACT
