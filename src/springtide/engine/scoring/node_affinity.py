"""NodeAffinity: the weights of the preferred terms that a node meets, added up."""

from collections.abc import Sequence

import numpy as np

from springtide.base.selectors import term_faults
from springtide.base.selectors.faults import joined
from springtide.engine.framework.label_columns import LabelColumns, columns_of
from springtide.engine.framework.node_terms import AnyOf, from_terms
from springtide.engine.framework.recent import Recent
from springtide.engine.framework.rule import Broken, Selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.scorer import UNSCORED, Answer, proportional
from springtide.model.columns import Int64
from springtide.model.ledger import Ledger
from springtide.model.preferences import PreferredNodes

Preferred = tuple[PreferredNodes, ...]


class NodeAffinity:
    """The NodeAffinity plugin of kube-scheduler; `added` is preferred for every pod."""

    name = "NodeAffinity"

    def __init__(self, added: Preferred = ()) -> None:
        self._added = added
        self._recent: Recent[Preferred, _Weighed] = Recent()

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Judge each term by columns of labels, and leave out those without weight."""
        preferred = ask.preferences.nodes
        if not preferred and not self._added:
            return UNSCORED
        faults = _faults(preferred)
        if faults:
            return Broken(joined(faults))
        terms = _that_count((*self._added, *preferred))
        columns = columns_of(ledger.labelsets)
        weighed = self._recent.get(ledger.labelsets, terms, lambda: _Weighed(terms, columns))
        return proportional(weighed.sums(ledger, selected))


class _Weighed:
    def __init__(self, preferred: Sequence[PreferredNodes], columns: LabelColumns) -> None:
        self._terms = [(each.weight, AnyOf(from_terms([each.term]), columns)) for each in preferred]

    def sums(self, ledger: Ledger, selected: Selection) -> Int64:
        """Return the weights of the terms that each row meets, added up."""
        sums: Int64 = np.zeros(len(selected.rows), np.int64)
        for weight, term in self._terms:
            sums += weight * term.where(ledger, selected)
        return sums


def _that_count(preferred: Preferred) -> Preferred:
    """Return the preferences that have a weight and say something."""
    return tuple(
        each for each in preferred if each.weight and (each.term.expressions or each.term.fields)
    )


def _faults(preferred: Preferred) -> list[str]:
    counting = set(_that_count(preferred))
    return [
        fault
        for index, each in enumerate(preferred)
        if each in counting
        for fault in term_faults(each.term, path=f"[{index}]")
    ]
