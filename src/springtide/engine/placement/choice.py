"""Which of the nodes that take a pod gets it: the one that scores best and places it exactly.

Of rows with the same score the first one is taken. Where a family's vector verdict is an upper bound,
rows are tried from the best one down until one places the pod.
"""

import numpy as np

from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.tables import FITS, Placement, Tables


def best_fit(pod_class: PodClass, tables: Tables) -> Placement | None:
    """Return the placement on the best row that takes a pod of this class, None if none does."""
    while True:
        table, count = tables.table(pod_class), tables.ledger.count
        if not count:
            return None
        scores = np.where(table.code[:count] == FITS, table.score[:count], -np.inf)
        row = int(scores.argmax())
        if scores[row] == -np.inf:
            return None
        placement = tables.place(pod_class, row)
        if isinstance(placement, Placement):
            return placement
