"""PodTopologySpread: the fewer equal pods in a node's domains, the better.

Soft constraints only. A constraint with many domains weighs more, because its counts are lower.
Rows that lack a label of a constraint get nothing, and are left out of the comparison, unless the
constraints are those that Kubernetes has for everybody.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from springtide.base.selectors import MalformedSelector, Selector
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.domains import Codes, domains
from springtide.engine.framework.pod_topology_spread import PodTopologySpread as HardSpread
from springtide.engine.framework.pod_topology_spread import counted_by, matching
from springtide.engine.framework.rule import Broken, Selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.line import rounded
from springtide.engine.scoring.scorer import SCORE_MAX, UNSCORED, Answer, Scored
from springtide.model.columns import Bool, Float64, Int64
from springtide.model.ledger import Ledger
from springtide.model.neighbours import SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL

MALFORMED: Final = "calculating preScoreState: obtaining pod's soft topology spread constraints"


class PodTopologySpread:
    """The scores of the PodTopologySpread plugin of kube-scheduler.

    `defaults` are for pods without constraints; `is_lenient` about nodes without their labels.
    """

    name = "PodTopologySpread"

    def __init__(self, defaults: tuple[SpreadConstraint, ...], *, is_lenient: bool) -> None:
        self._defaults = tuple(each for each in defaults if not each.is_hard)
        self._is_lenient = is_lenient
        self._included = HardSpread().included

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Count the pods of each domain, and compare the rows by them."""
        pod = ask.framework
        own = pod.spec.neighbours.spread
        try:
            soft = _own(own, dict(pod.labels)) if own else self._by_default(pod)
        except MalformedSelector as fault:
            return Broken(f"{MALFORMED}: {fault.reason}")
        if not soft or not ledger.count:
            return UNSCORED
        is_lenient = self._is_lenient and not own
        spread = _Spread([each for each, _ in soft], ledger, selected, is_lenient=is_lenient)
        sums: Float64 = np.zeros(len(selected.rows))
        for index, (constraint, selector) in enumerate(soft):
            counted = spread.labelled & self._included(constraint, pod, ledger)
            pods = matching(selector, pod, ledger)
            sums += spread.marks(index, np.where(counted, pods, 0), pods)
        return _compared(rounded(np.where(spread.ignored, 0.0, sums)), spread.ignored)

    def _by_default(self, pod: PodAsk) -> list[tuple[SpreadConstraint, Selector]]:
        selector = pod.default_selector
        if selector is None or selector.is_empty:
            return []
        return [(each, selector) for each in self._defaults]


def _own(
    constraints: Sequence[SpreadConstraint], labels: Mapping[str, str]
) -> list[tuple[SpreadConstraint, Selector]]:
    return [(each, counted_by(each, labels)) for each in constraints if not each.is_hard]


class _Spread:
    """The domains of several constraints, and which rows count in them."""

    def __init__(
        self,
        constraints: Sequence[SpreadConstraint],
        ledger: Ledger,
        selected: Selection,
        *,
        is_lenient: bool,
    ) -> None:
        self._constraints = constraints
        self._cells = selected.cells
        self._domains = [domains(ledger, each.topology_key) for each in constraints]
        self.labelled: Bool = np.ones(ledger.count, np.bool_)
        if not is_lenient:
            for codes, _ in self._domains:
                self.labelled &= codes != 0
        self.ignored = ~self.labelled[selected.cells]

    def marks(self, index: int, counted: Int64, pods: Int64) -> Float64:
        """Return what one constraint adds to each row."""
        constraint = self._constraints[index]
        codes, size = self._domains[index]
        here = codes[self._cells]
        if constraint.topology_key == HOSTNAME_LABEL:
            # A node is a domain of its own, even if another has the same label.
            found, number = pods[self._cells], int(np.count_nonzero(~self.ignored))
        else:
            found, number = _sums(codes, counted, size)[here], _distinct(here[~self.ignored], size)
        marks = found * math.log(number + 2) + (constraint.max_skew - 1)
        return np.where(here == 0, 0.0, marks)


def _sums(codes: Codes, counts: Int64, size: int) -> Int64:
    return np.bincount(codes, weights=counts, minlength=size).astype(np.int64)


def _distinct(codes: Codes, size: int) -> int:
    """Return how many domains there are; having no label is one, if it is let through."""
    return int(np.count_nonzero(np.bincount(codes, minlength=size)))


def _compared(raw: Int64, ignored: Bool) -> Scored:
    """Return the rows with few pods as the better ones."""
    compared = raw[~ignored]
    highest, lowest = int(compared.max(initial=0)), int(compared.min(initial=2**62))
    if highest == 0:
        return Scored(raw, np.where(ignored, 0, SCORE_MAX))
    return Scored(raw, np.where(ignored, 0, SCORE_MAX * (highest + lowest - raw) // highest))
