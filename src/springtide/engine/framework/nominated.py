"""Pods nominated to nodes, and verdicts that take them into account.

A pod that had others evicted for it is not on its node yet, but the node is promised to it. So
kube-scheduler judges a node twice: with the pods of at least the same priority that are nominated to
it, and without them, because they may end up elsewhere; a node must pass both times. Rows without
such pods are judged once, all together.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.framework import PASSES, Framework, PreparedAsk, Verdicts
from springtide.engine.framework.rule import Rows
from springtide.engine.framework.verdicts import chosen, put
from springtide.model.ledger import Holding
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


class Nominee(msgspec.Struct, frozen=True):
    """A pod that waits for its node, and what it will hold there; the ledger does not count it."""

    pod: Pod
    holding: Holding


class Nominations:
    """The nominees by row."""

    def __init__(self, nominees: Iterable[Nominee] = ()) -> None:
        self._by_row: dict[int, list[Nominee]] = {}
        for each in nominees:
            self._by_row.setdefault(each.holding.row, []).append(each)

    def before(self, pod: Pod) -> dict[int, list[Holding]]:
        """Return, by row, what the nominees will hold that come before this pod."""
        found = {
            row: [each.holding for each in nominees if _comes_before(each.pod, pod)]
            for row, nominees in self._by_row.items()
        }
        return {row: holdings for row, holdings in found.items() if holdings}


NOBODY = Nominations()


def _comes_before(nominee: Pod, pod: Pod) -> bool:
    return nominee.spec.priority >= pod.spec.priority and nominee.uid != pod.uid


class Judge:
    """Judges one ask by all rules, on an overlay that may change between two questions.

    `promised` is what nominees will hold, by row.
    """

    def __init__(
        self,
        framework: Framework,
        ask: PodAsk,
        overlay: Overlay,
        promised: Mapping[int, Sequence[Holding]],
    ) -> None:
        self.framework = framework
        self.overlay = overlay
        self.prepared = framework.prepare(ask, overlay.ledger)
        self._ask = ask
        self._promised = promised

    @property
    def is_over(self) -> bool:
        """Return whether no row was worth a look."""
        return self.prepared.rejection is not None or bool(self.prepared.error)

    def verdicts(self) -> Verdicts:
        """Return the verdicts over all rows."""
        verdicts = self._evaluate(self.prepared, np.arange(self.overlay.ledger.count))
        if self._promised and not self.is_over:
            for rows in self._together():
                self._take_over(verdicts, rows)
        return verdicts

    def refusal(self, row: int) -> Refusal | None:
        """Return why the row refuses now, None if it takes the pod."""
        rows: Rows = np.array([row], np.intp)
        verdicts = self._with_nominees(rows) if row in self._promised else None
        if verdicts is None or verdicts.rule[0] == PASSES:
            verdicts = self._evaluate(self._now(), rows)
        return self.told(verdicts, 0)

    def told(self, verdicts: Verdicts, index: int) -> Refusal | None:
        """Return the refusal that one of the verdicts stands for, None if it is none."""
        code = int(verdicts.rule[index])
        if code == PASSES:
            return None
        detail, is_final = int(verdicts.detail[index]), bool(verdicts.unresolvable[index])
        return self.framework.refusal(self.prepared, code, detail, is_final)

    def _together(self) -> list[Rows]:
        """Return the promised rows in groups that can be judged at once."""
        rows: Rows = np.array(sorted(self._promised), np.intp)
        is_alone = self.prepared.lasts_by_row and not self.prepared.cluster_checks
        return [rows] if is_alone else [rows[index : index + 1] for index in range(len(rows))]

    def _take_over(self, verdicts: Verdicts, rows: Rows) -> None:
        """Let what is said with nominees stand where they are in the way."""
        again = self._with_nominees(rows)
        refused = again.rule != PASSES
        put(verdicts, rows[refused], chosen(again, refused))

    def _with_nominees(self, rows: Rows) -> Verdicts:
        with self.overlay.trial():
            for row in rows.tolist():
                for holding in self._promised[row]:
                    self.overlay.hold(holding)
            return self._evaluate(self._now(), rows)

    def _now(self) -> PreparedAsk:
        return self.framework.prepare_beside(self.prepared, self._ask, self.overlay.ledger)

    def _evaluate(self, prepared: PreparedAsk, rows: Rows) -> Verdicts:
        return self.framework.evaluate(prepared, self.overlay.ledger, rows)
