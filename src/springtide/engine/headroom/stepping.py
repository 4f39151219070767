"""The room for a class one of whose rules reads other nodes, or that a quota bounds: pod by pod.

Each pod goes to the node that the device family scores highest or, without devices, to the next one
behind the last match. The search is cut short at `PODS_MAX`.
"""

from typing import Final

import numpy as np

from springtide.engine.headroom.result import Room
from springtide.engine.headroom.verdicts import refused_now
from springtide.engine.placement.choice import by_score
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.overlay import Overlay

PODS_MAX: Final = 1_000


def stepped(pod_class: PodClass, tables: Tables, overlay: Overlay) -> Room:
    """Return the room for the class, at most `PODS_MAX` pods."""
    counts = np.zeros(tables.ledger.count, np.int64)
    last = -1
    with overlay.trial():
        for number in range(PODS_MAX):
            placement = _next(pod_class, tables, last)
            if placement is None:
                return Room(counts=counts, refusals=list(refused_now(pod_class, tables)))
            overlay.hold(holding(f"headroom-{number}", pod_class, placement))
            last = placement.row
            counts[last] += 1
        refusals = list(refused_now(pod_class, tables))
    return Room(counts=counts, refusals=refusals, is_cut=True)


def _next(pod_class: PodClass, tables: Tables, last: int) -> Placement | None:
    rows = tables.candidates(pod_class)
    if pod_class.asks:
        scores = tables.table(pod_class).rank[rows]
        return tables.first_fit(pod_class, by_score(rows, scores))
    order = np.argsort((rows - last - 1) % tables.ledger.count, kind="stable")
    return tables.first_fit(pod_class, rows[order].tolist())
