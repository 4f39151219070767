"""VolumeBinding: waiting claims are met without wasting room, or with much room to spare.

Where volumes that are there serve claims, what counts is how much of each is asked for; elsewhere,
how much of the room that drivers report is. Storage classes count alike.
"""

from collections.abc import Sequence

import numpy as np

from springtide.base.quantity import Quantity
from springtide.engine.framework.label_columns import columns_of
from springtide.engine.framework.reach import selected_by
from springtide.engine.framework.rule import Ready, Selection
from springtide.engine.framework.volume_binding import Binding
from springtide.engine.framework.volume_binding import VolumeBinding as Rule
from springtide.engine.framework.waiting_claims import (
    NONE,
    Served,
    WaitingClaims,
    sufficient_capacities,
)
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.line import Line, rounded
from springtide.engine.scoring.scorer import Answer, as_is
from springtide.model.columns import Bool, Int64
from springtide.model.ledger import Ledger
from springtide.model.plugin_arguments import ShapePoint
from springtide.model.storage import Storage


class VolumeBinding:
    """The scores of the VolumeBinding plugin of kube-scheduler; without storage, all alike."""

    name = "VolumeBinding"

    def __init__(self, shape: Sequence[ShapePoint], storage: Storage | None = None) -> None:
        self._line = Line(shape)
        self._storage = storage or Storage()
        self._rule = Rule(storage)

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Add up by storage class what is asked for and what there is."""
        nothing: Int64 = np.zeros(len(selected.rows), np.int64)
        prepared = self._rule.prepare(ask.framework, ledger)
        if not isinstance(prepared, Ready) or not isinstance(prepared.check, Binding):
            return as_is(nothing)
        waiting = prepared.check.waiting
        if waiting is None:
            return as_is(nothing)
        served = waiting.served(ledger, selected)
        has_volume: Bool = np.zeros(len(nothing), np.bool_)
        for each in served:
            has_volume |= each.chosen != NONE
        by_volume = self._average(_of_volumes(served, len(nothing)), len(nothing))
        by_room = self._average(self._of_room(waiting, ledger, selected), len(nothing))
        return as_is(np.where(has_volume, by_volume, by_room))

    def _average(self, uses: dict[str, "_Use"], rows: int) -> Int64:
        """Return the average over the storage classes of each row."""
        sums: Int64 = np.zeros(rows, np.int64)
        classes: Int64 = np.zeros(rows, np.int64)
        for use in uses.values():
            sums += np.where(use.counts, self._line.at(use.asked, use.there), 0)
            classes += use.counts
        return rounded(sums / np.maximum(classes, 1))

    def _of_room(
        self, waiting: WaitingClaims, ledger: Ledger, selected: Selection
    ) -> dict[str, "_Use"]:
        columns = columns_of(ledger.labelsets)
        uses: dict[str, _Use] = {}
        for claim in waiting.claims:
            storage_class = self._storage.classes[claim.class_name]
            found = sufficient_capacities(claim, storage_class, self._storage) or ()
            use = uses.setdefault(claim.class_name, _Use(len(selected.rows)))
            left: Bool = np.ones(len(selected.rows), np.bool_)
            for each in found:
                assert each.nodes is not None
                here = left & selected_by([each.nodes], columns).where(ledger, selected)
                # Claims of one class share the room, which therefore is not added up.
                use.there[here] = _value(each.capacity)
                use.asked[here] += _value(claim.requested)
                use.counts |= here
                left &= ~here
        return uses


class _Use:
    """Of one storage class, what is asked for and what there is, on the rows where that counts."""

    def __init__(self, rows: int) -> None:
        self.asked: Int64 = np.zeros(rows, np.int64)
        self.there: Int64 = np.zeros(rows, np.int64)
        self.counts: Bool = np.zeros(rows, np.bool_)


def _of_volumes(served: Sequence[Served], rows: int) -> dict[str, _Use]:
    uses: dict[str, _Use] = {}
    for each in served:
        use = uses.setdefault(each.claim.class_name, _Use(rows))
        # The last one stands for no volume.
        sizes = np.array([*(_value(volume.capacity) for volume in each.volumes), 0], np.int64)
        is_served = each.chosen != NONE
        use.there += sizes[each.chosen]
        use.asked += np.where(is_served, _value(each.claim.requested), 0)
        use.counts |= is_served
    return uses


def _value(quantity: Quantity | None) -> int:
    return 0 if quantity is None else quantity.value()
