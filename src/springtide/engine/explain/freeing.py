"""Which pods of lower priority would have to go: the preemption engine, with devices in sight.

kube-scheduler tries evictions by its own rules only, which know nothing of devices. Here every row
is judged by all of the filter, so the answer also holds where devices are what is short. As there,
no more rows are tried than enough; none of a row's victims could stay.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from springtide.engine.explain.changes import Change, ChangeKind
from springtide.engine.explain.words import count, joined
from springtide.engine.framework.framework import PASSES, Verdicts
from springtide.engine.framework.rule import Rows
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.tables import Tables
from springtide.engine.preemption import Evictable, Victims
from springtide.engine.preemption.victims import find_victims
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

ROWS_MAX: Final = 100
"""kube-scheduler's least number of candidates; more nodes are not tried."""
ROWS_SEEN_MAX: Final = 20
"""How many are tried where they see each other, which have to be tried one by one."""
_REFUSES: Final = PASSES + 1


def freed(
    pod: Pod, pod_class: PodClass, tables: Tables, *, overlay: Overlay, evictable: Evictable
) -> Iterator[Change]:
    """Yield the fewest pods of lower priority whose node takes the pod without them."""
    rows = _worth_it(pod, pod_class, tables, evictable)
    found = [
        victims
        for victims in _victims(pod, rows, _WholeFilter(tables, pod_class, overlay), evictable)
        if isinstance(victims, Victims) and victims.pods
    ]
    if found:
        best = min(found, key=_pain)
        yield _change(pod, best, tables.ledger.names[best.row])


def _worth_it(pod: Pod, pod_class: PodClass, tables: Tables, evictable: Evictable) -> list[int]:
    rows = tables.promising(pod_class, below=tables.ledger.count)
    is_worth_it = evictable.residents.has_below(pod.spec.priority, rows)
    sees_others = pod_class.framework.spec.neighbours.may_exclude
    most = ROWS_SEEN_MAX if sees_others else ROWS_MAX
    worth: list[int] = rows[is_worth_it][:most].tolist()
    return worth


def _victims(
    pod: Pod, rows: list[int], judge: "_WholeFilter", evictable: Evictable
) -> Iterator[Victims | Refusal]:
    lower = [(row, evictable.residents.below(pod.spec.priority, row)) for row in rows]
    together = [lower] if judge.is_by_row else [[each] for each in lower]
    for several in together:
        if several:
            yield from find_victims(judge, several, budgets=evictable.budgets)


def _pain(victims: Victims) -> tuple[int, int, int]:
    """Return what counts: few pods, few broken budgets, low priorities."""
    return len(victims.pods), victims.broken, max(pod.spec.priority for pod in victims.pods)


def _change(pod: Pod, victims: Victims, node: str) -> Change:
    pods = victims.pods
    priority = max(each.spec.priority for each in pods)
    names = joined([each.key for each in pods])
    budgets = f", and breaks {count(victims.broken, 'budget')}" if victims.broken else ""
    most = "" if len(pods) == 1 else "at most "
    return Change(
        kind=ChangeKind.FREE_PODS,
        text=f"remove {names} from node {node} (priority {most}{priority}, below "
        f"{pod.spec.priority}{budgets})",
        subject=node,
        node=node,
        pods=pods,
        size=float(len(pods)),
    )


class _WholeFilter:
    """Judges one class by all rules and devices, on an overlay that changes between two questions."""

    def __init__(self, tables: Tables, pod_class: PodClass, overlay: Overlay) -> None:
        self.overlay = overlay
        self._tables = tables
        self._class = pod_class

    @property
    def is_by_row(self) -> bool:
        """Return whether what is tried on one row changes nothing on any other."""
        table = self._tables.table(self._class)
        prepared = table.prepared
        if prepared is None or table.asks != self._class.asks:
            # A quota that binds counts what pods hold on all nodes.
            return prepared is None
        return prepared.lasts_by_row and not prepared.cluster_checks

    def verdicts_now(self, rows: Rows) -> Verdicts:
        """Return which of these rows take the pod as they are now."""
        answers = [self._tables.place(self._class, row) for row in rows.tolist()]
        refused = np.array([isinstance(each, Refusal) for each in answers], np.bool_)
        return Verdicts(
            rule=np.where(refused, _REFUSES, PASSES).astype(np.uint8),
            detail=rows.astype(np.uint64),
            unresolvable=np.zeros(len(rows), np.bool_),
        )

    def told(self, verdicts: Verdicts, index: int) -> Refusal | None:
        """Return the refusal that one of the verdicts stands for, None if it is none."""
        if verdicts.rule[index] == PASSES:
            return None
        return self._tables.refusal(self._class, int(verdicts.detail[index]))
