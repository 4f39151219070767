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
        *,
        overlay: Overlay,
        promised: Mapping[int, Sequence[Holding]],
    ) -> None:
        self.framework = framework
        self.overlay = overlay
        self.prepared = framework.prepare(ask, overlay.ledger)
        self._ask = ask
        self._latest = (overlay.ledger.presences.version, self.prepared)
        self._promised = promised
        self._promised_rows = list(promised)

    @property
    def is_over(self) -> bool:
        """Return whether no row was worth a look."""
        return self.prepared.rejection is not None or bool(self.prepared.error)

    @property
    def is_by_row(self) -> bool:
        """Return whether what is tried on one row changes nothing on any other."""
        return self.prepared.lasts_by_row and not self.prepared.cluster_checks

    def verdicts(self) -> Verdicts:
        """Return the verdicts over all rows, if nothing has been tried yet."""
        rows = np.arange(self.overlay.ledger.count)
        return self._with_nominees(self._evaluate(self.prepared, rows), rows)

    def verdicts_now(self, rows: Rows) -> Verdicts:
        """Return the verdicts over these rows as they are now; several only if `is_by_row`."""
        assert self.is_by_row or len(rows) <= 1, "a trial on one row is seen from the others"
        return self._with_nominees(self._evaluate(self._now(), rows), rows)

    def told(self, verdicts: Verdicts, index: int) -> Refusal | None:
        """Return the refusal that one of the verdicts stands for, None if it is none."""
        code = int(verdicts.rule[index])
        if code == PASSES:
            return None
        detail, is_final = int(verdicts.detail[index]), bool(verdicts.unresolvable[index])
        return self.framework.refusal(self.prepared, code, detail, is_final)

    def _with_nominees(self, verdicts: Verdicts, rows: Rows) -> Verdicts:
        """Let what is said beside nominees stand where they are in the way."""
        if not self._promised or self.is_over:
            return verdicts
        found = np.flatnonzero(np.isin(rows, self._promised_rows))
        for at in self._groups(found):
            beside = self._beside_nominees(rows[at])
            refused = beside.rule != PASSES
            put(verdicts, at[refused], chosen(beside, refused))
        return verdicts

    def _groups(self, found: Rows) -> list[Rows]:
        """Part what is judged beside nominees into what can be judged at once."""
        if self.is_by_row:
            return [found]
        return [found[index : index + 1] for index in range(len(found))]

    def _beside_nominees(self, rows: Rows) -> Verdicts:
        with self.overlay.trial():
            for row in rows.tolist():
                for holding in self._promised[row]:
                    self.overlay.hold(holding)
            return self._evaluate(self._now(), rows)

    def _now(self) -> PreparedAsk:
        """Return the ask as it is prepared now; other rules between pods look at nothing else."""
        ledger = self.overlay.ledger
        version, prepared = self._latest
        if version != ledger.presences.version or not self.prepared.lasts_by_row:
            prepared = self.framework.prepare_beside(self.prepared, self._ask, ledger)
            self._latest = (ledger.presences.version, prepared)
        return prepared

    def _evaluate(self, prepared: PreparedAsk, rows: Rows) -> Verdicts:
        return self.framework.evaluate(prepared, self.overlay.ledger, rows)
