"""Why a node takes no more: the reasons of all nodes that refuse a pod, in the words of headroom."""

from typing import Final

import numpy as np

from springtide.apps.headroom.limits import limits_by_pool
from springtide.apps.headroom.report import LimitReport
from springtide.engine.headroom.verdicts import refused_now
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.tables import Tables

Limits = tuple[LimitReport, ...]

NO_NODE: Final = LimitReport(reason="there is no node", nodes=0)


class Reasons:
    """Finds the reasons for pods as the ledger is; equal pods in a row are looked at once."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._position = -1
        self._known: dict[PodClass, Limits] = {}

    def of(self, pod_class: PodClass) -> Limits:
        """Return the reasons, the one of most nodes first; no node may take a pod of the class."""
        position = self._tables.ledger.changes.position
        if position != self._position:
            self._position, self._known = position, {}
        found = self._known.get(pod_class)
        if found is None:
            found = self._known[pod_class] = self._found(pod_class)
        return found

    def _found(self, pod_class: PodClass) -> Limits:
        one_pool = np.zeros(self._tables.ledger.count, np.intp)
        found, _ = limits_by_pool(refused_now(pod_class, self._tables), one_pool, pools=1)
        return found or (NO_NODE,)
