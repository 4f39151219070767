"""Placing one pod at a time on new nodes that a rule can tell apart.

The plain form of the estimator: every new node is a row of an overlay, every placement a holding.
It is what `packing` must equal, and what serves pods whose rules read a node's name or other nodes, or
whose namespaces may come to the end of a quota.
New nodes are counted from 0; the nodes that were there before have negative numbers.
"""

from collections.abc import Sequence

import numpy as np

from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.limits import Limiter
from springtide.engine.capacity.packing import NOT_SIMULATED
from springtide.engine.capacity.placed import Placed
from springtide.engine.capacity.start import DeviceTotals, Start, device_totals
from springtide.engine.framework.pod_topology_spread import UNEVEN
from springtide.engine.placement.family import Rows
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.table import FITS
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


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
            if self._rows and self._place_on_last(pod, batch):
                continue
            if self._rows and self._rows[-1] not in self._used:
                return True
            if not limiter.permit():
                return False
            self._add()
            if not self._is_placed(pod, batch, self._rows[-1]):
                return True
        return True

    def onto_counted(self, batch: Batch, pods: Sequence[Pod], limiter: Limiter) -> bool:
        """Fill one new node and count how many like it take the rest, without building them."""
        if not limiter.permit():
            return False
        self._add()
        each = 0
        while each < len(pods) and self._is_placed(pods[each], batch, self._rows[-1]):
            each += 1
        if not each:
            return True
        first = len(self._rows)
        _, is_open = self.placed.count(batch, pods[each:], limiter, each=each, first=first)
        return is_open

    def name(self, index: int) -> str:
        """Return the name of the node with this number; counted ones were never built."""
        if index < 0:
            return self._start.overlay.ledger.names[self._existing + index]
        if index >= len(self._rows):
            return f"{NOT_SIMULATED} {index - len(self._rows)}"
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

    def _add(self) -> None:
        self._rows.append(self._start.add(self._start.name(len(self._rows))))

    def _place_on_any(self, pod: Pod, batch: Batch) -> bool:
        return bool(self._rows) and self._place_on_one_of(np.array(self._rows), pod, batch)

    def _place_on_last(self, pod: Pod, batch: Batch) -> bool:
        """Place the pod on the last node or, where that would be uneven, on any other one."""
        last = self._rows[-1]
        answer = self._place_on(pod, batch, last)
        if not isinstance(answer, Refusal):
            return True
        if not _spreads_over_hostnames(pod) or not any(UNEVEN in text for text in answer.reasons):
            return False
        others = np.delete(np.arange(self._start.overlay.ledger.count), last)
        return self._place_on_one_of(others, pod, batch)

    def _place_on_one_of(self, rows: Rows, pod: Pod, batch: Batch) -> bool:
        """Place the pod on the first row behind the last match that takes it."""
        ledger = self._start.overlay.ledger
        fitting = np.zeros(ledger.count, np.bool_)
        fitting[rows] = self._start.tables.table(batch.pod_class).code[rows] == FITS
        # A cordoned node is passed over even for pods that tolerate it.
        open_rows = np.flatnonzero(fitting & ~ledger.unschedulable[: ledger.count])
        order = np.argsort((open_rows - self._last_match - 1) % ledger.count, kind="stable")
        for row in open_rows[order].tolist():
            if self._is_placed(pod, batch, row):
                self._last_match = row
                return True
        return False

    def _is_placed(self, pod: Pod, batch: Batch, row: int) -> bool:
        return not isinstance(self._place_on(pod, batch, row), Refusal)

    def _place_on(self, pod: Pod, batch: Batch, row: int) -> Placement | Refusal:
        placement = self._start.tables.place(batch.pod_class, row)
        if isinstance(placement, Placement):
            self._start.overlay.hold(holding(pod.uid, batch.pod_class, placement))
            self._used.add(row)
            self.placed.add(batch, (pod,), np.array([row - self._existing]))
        return placement


def _spreads_over_hostnames(pod: Pod) -> bool:
    return any(each.topology_key == HOSTNAME_LABEL for each in pod.spec.neighbours.spread)
