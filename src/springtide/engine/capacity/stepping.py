"""Placing one pod at a time on new nodes that a rule can tell apart.

The plain form of the estimator: every new node is a row of an overlay, every placement a holding.
It is what `packing` must equal, and what serves pods whose rules read a node's name or other nodes.
"""

from collections.abc import Sequence

import numpy as np

from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.limits import Limiter
from springtide.engine.capacity.placed import Placed
from springtide.engine.capacity.start import DeviceTotals, Start, device_totals
from springtide.engine.placement.tables import Placement, holding
from springtide.model.pod import Pod


class Stepping:
    """The new nodes of one estimate as rows of an overlay that the caller reverts."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._existing = start.overlay.ledger.count
        self._rows: list[int] = []
        self._used: set[int] = set()
        self._last_match = 0
        self.placed = Placed()

    def onto_added(self, batch: Batch) -> Sequence[Pod]:
        """Place pods on the nodes added so far and return those that did not fit."""
        for index, pod in enumerate(batch.pods):
            if not self._place_on_any(pod, batch):
                return batch.pods[index:]
        return ()

    def onto_new(self, batch: Batch, pods: Sequence[Pod], limiter: Limiter) -> bool:
        """Place pods on the last node and on further new nodes; False once none is permitted."""
        for pod in pods:
            if self._rows and self._place_on(pod, batch, self._rows[-1]):
                continue
            if self._rows and self._rows[-1] not in self._used:
                return True
            if not limiter.permit():
                return False
            self._rows.append(self._start.add(self._start.name(len(self._rows))))
            if not self._place_on(pod, batch, self._rows[-1]):
                return True
        return True

    def onto_counted(self, batch: Batch, pods: Sequence[Pod], limiter: Limiter) -> bool:
        """Place pods as `onto_new`: nodes that can be told apart cannot be merely counted."""
        return self.onto_new(batch, pods, limiter)

    def name(self, index: int) -> str:
        """Return the name of the new node with this index."""
        return self._start.name(index)

    def device_totals(self) -> tuple[DeviceTotals, ...]:
        """Return what the nodes that got a pod have and use of each device family."""
        ledger = self._start.overlay.ledger
        views = (
            ledger.view(row, family)
            for row in sorted(self._used)
            for family, _ in self._start.template.inventories
        )
        return device_totals((view, 1) for view in views if view is not None)

    def _place_on_any(self, pod: Pod, batch: Batch) -> bool:
        if self._start.template.node.is_unschedulable or not self._rows:
            return False
        total = self._existing + len(self._rows)
        rows = np.array(self._rows)
        open_rows = rows[self._start.tables.table(batch.pod_class).code[rows] == 0]
        order = np.argsort((open_rows - self._last_match - 1) % total, kind="stable")
        for row in open_rows[order].tolist():
            if self._place_on(pod, batch, row):
                self._last_match = row
                return True
        return False

    def _place_on(self, pod: Pod, batch: Batch, row: int) -> bool:
        placement = self._start.tables.place(batch.pod_class, row)
        if not isinstance(placement, Placement):
            return False
        self._start.overlay.hold(holding(pod.uid, batch.pod_class, placement))
        self._used.add(row)
        self.placed.add(batch, (pod,), np.array([self._rows.index(row)]))
        return True
