"""Tries a pod that was changed: the whole filter, all rules and all devices, over all nodes."""

from collections.abc import Mapping
from types import MappingProxyType

from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.family import Rows
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.tables import Tables
from springtide.model.pod import Pod


class Trial:
    """Which rows take a pod; equal questions are answered once.

    Rows of nodes that do not exist yet have a name of their own in `new`.
    """

    def __init__(
        self,
        tables: Tables,
        classifier: Classifier,
        new: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.tables = tables
        self.new = new
        self._classifier = classifier
        self._taken: dict[PodClass, int | None] = {}

    def row(self, pod: Pod) -> int | None:
        """Return the first row that takes the pod, None if none does."""
        pod_class = self._classifier.classify(pod)
        if pod_class not in self._taken:
            rows = self.tables.candidates(pod_class).tolist()
            placed = self.tables.first_fit(pod_class, rows)
            self._taken[pod_class] = None if placed is None else placed.row
        return self._taken[pod_class]

    def class_of(self, pod: Pod) -> PodClass:
        """Return the class of a pod."""
        return self._classifier.classify(pod)

    def fits(self, pod: Pod) -> bool:
        """Return whether any row takes the pod."""
        return self.row(pod) is not None

    def candidates(self, pod: Pod) -> Rows:
        """Return the rows that may take the pod, ascending."""
        return self.tables.candidates(self._classifier.classify(pod))

    def takes(self, pod: Pod, row: int) -> bool:
        """Return whether this row takes the pod."""
        answer = self.tables.place(self._classifier.classify(pod), row)
        return isinstance(answer, Placement)

    def name(self, row: int) -> str:
        """Return what the row's node is called."""
        return self.new.get(row) or self.tables.ledger.names[row]
