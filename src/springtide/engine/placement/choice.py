"""Which of the nodes that take a pod gets it: the one that scores best and places it exactly.

Of rows with the same score the first one is taken, or the one that is first by name. Where a family's
vector verdict is an upper bound, rows are tried from the best one down until one places the pod.
"""

from collections.abc import Iterator

import numpy as np

from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Rows
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.tables import Tables
from springtide.model.columns import Float32, Int64


def best_fit(pod_class: PodClass, tables: Tables) -> Placement | None:
    """Return the placement on the best row that takes a pod of this class, None if none does."""
    count = tables.ledger.count
    if not count:
        return None
    rank = tables.table(pod_class).rank[:count]
    row = int(rank.argmax())
    if rank[row] == -np.inf:
        return None
    placement = tables.place(pod_class, row)
    if isinstance(placement, Placement):
        return placement
    left = np.flatnonzero(rank > -np.inf)
    return tables.first_fit(pod_class, by_score(left, rank[left]))


def best_among(
    pod_class: PodClass, tables: Tables, rows: Rows, *, order: Int64
) -> Placement | None:
    """Return the placement on the best of these rows, None if none of them takes the pod.

    Of rows with the same score the first in `order`, which has a place for every row, is taken.
    """
    while len(rows):
        rank = tables.table(pod_class).rank.take(rows)
        best = rank.max()
        if best == -np.inf:
            return None
        tied = rows[rank == best]
        row = int(tied[order.take(tied).argmin()])
        placement = tables.place(pod_class, row)
        if isinstance(placement, Placement):
            return placement
    return None


def by_score(rows: Rows, scores: Float32) -> Iterator[int]:
    """Yield the rows by score, highest first; equal scores keep the order of the nodes."""
    if not len(rows):
        return
    best = int(np.argmax(scores))
    yield int(rows[best])
    # Seldom asked for: the best row takes the pod unless only an exact placement can tell.
    for index in np.argsort(-scores, kind="stable").tolist():
        if index != best:
            yield int(rows[index])
