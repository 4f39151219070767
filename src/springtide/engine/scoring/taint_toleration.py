"""TaintToleration: the fewer PreferNoSchedule taints the pod does not tolerate, the better."""

from collections.abc import Sequence

import numpy as np

from springtide.base.taints import PREFER_NO_SCHEDULE, Taint, Toleration, tolerates
from springtide.engine.framework.recent import Recent
from springtide.engine.framework.rule import Selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.scorer import Answer, proportional
from springtide.model.columns import Int32, Int64, Interner
from springtide.model.ledger import Ledger

TaintSets = Interner[tuple[Taint, ...]]


class TaintToleration:
    """The TaintToleration plugin of kube-scheduler, without the gated numeric operators."""

    name = "TaintToleration"

    def __init__(self) -> None:
        self._recent: Recent[tuple[Toleration, ...], _Unwelcoming] = Recent()

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Count the taints of each distinct set once."""
        tolerations = ask.framework.spec.tolerations
        counts = self._recent.get(
            ledger.taintsets, tolerations, lambda: _Unwelcoming(tolerations, ledger.taintsets)
        )
        return proportional(counts.of(ledger.taintset[selected.cells]), reverse=True)


class _Unwelcoming:
    """How many taints of each set would rather not have the pod."""

    def __init__(self, tolerations: Sequence[Toleration], taintsets: TaintSets) -> None:
        self._tolerations = tolerations
        self._taintsets = taintsets
        self._counts: Int64 = np.zeros(0, np.int64)

    def of(self, codes: Int32) -> Int64:
        """Return the count for each code."""
        known = len(self._counts)
        if known < len(self._taintsets):
            fresh = [self._count(taints) for taints in self._taintsets.values[known:]]
            self._counts = np.concatenate([self._counts, np.array(fresh, np.int64)])
        return self._counts.take(codes)

    def _count(self, taints: Sequence[Taint]) -> int:
        return sum(
            taint.effect == PREFER_NO_SCHEDULE
            and not any(tolerates(each, taint) for each in self._tolerations)
            for taint in taints
        )
