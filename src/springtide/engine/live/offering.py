"""Where the scheduler chooses: which nodes take a pod, how well, and a reservation on the one it chose.

Scores are those by which a filter call would choose, so that the best node here is the best there. Where
vectors alone cannot tell whether a node takes a pod, the best ones are asked exactly, so many in a call;
of the others the bind finds out, and the next call knows.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from springtide.engine.live.choosing import Choosing
from springtide.engine.live.tracking import Tracking
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Rows
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.reasons import NODE_UNREGISTERED
from springtide.model.columns import Float32, Int64
from springtide.model.pod import Pod

PROOFS_MAX: Final = 64
"""Nodes that are asked exactly at once, each for some tens of microseconds."""


class Offering:
    """Answers about pods that ask for devices and hold none."""

    def __init__(self, choosing: Choosing, tracking: Tracking) -> None:
        self._choosing = choosing
        self._tracking = tracking

    def taking(self, pod_class: PodClass, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of these nodes that take the pod, in the order of the call."""
        self._choosing.consider(pod_class)
        tables, rows = self._choosing.tables, self._choosing.rows_of(names)
        table = tables.table(pod_class)
        rows = rows[table.rank.take(rows) > -np.inf]
        while len(rows):
            unproved = rows[~table.proved.take(rows)]
            tables.prove(pod_class, _best(unproved, table.rank.take(unproved)))
            rows = rows[table.rank.take(rows) > -np.inf]
            if table.proved.take(rows).any():
                break
        known = self._choosing.ledger.names
        return tuple(known[row] for row in rows.tolist())

    def scores(self, pod_class: PodClass, names: Sequence[str], *, most: int) -> dict[str, int]:
        """Return how well these nodes suit the pod: 0 to `most`, which only the best ones get."""
        ledger, rows = self._choosing.ledger, self._choosing.rows_of(names)
        rank = self._choosing.tables.table(pod_class).rank.take(rows)
        fits = rank > -np.inf
        scores = np.zeros(ledger.count + 1, np.int64)
        scores[rows[fits]] = _scaled(rank[fits], most)
        places = self._choosing.places_of(names)
        return dict(zip(names, scores[places].tolist(), strict=True))

    def reserve(self, pod: Pod, pod_class: PodClass, node: str, *, now_s: float) -> str:
        """Hold a pod's devices on a node, which the bind writes; return why it has none, if so."""
        self._tracking.release(pod, now_s=now_s)
        row = self._choosing.ledger.rows.get(node)
        placed = None if row is None else self._choosing.tables.place(pod_class, row)
        if isinstance(placed, Placement):
            self._tracking.reserve(pod, node, placed.allocations, now_s=now_s)
            return ""
        why = NODE_UNREGISTERED if placed is None else placed.text
        return f"node {node} does not take pod {pod.key} ({why}): it is scheduled again"


def _best(rows: Rows, rank: Float32) -> Rows:
    return rows[np.argsort(-rank, kind="stable")[:PROOFS_MAX]]


def _scaled(rank: Float32, most: int) -> Int64:
    """Return whole scores in the order of the ranks; rounding makes none of them the best."""
    if not len(rank):
        return np.zeros(0, np.int64)
    exact = rank.astype(np.float64)
    lowest, highest = exact.min(), exact.max()
    if lowest == highest:
        return np.full(len(rank), most)
    scores = np.floor((exact - lowest) / (highest - lowest) * most).astype(np.int64)
    return np.where(exact < highest, np.minimum(scores, most - 1), most)
