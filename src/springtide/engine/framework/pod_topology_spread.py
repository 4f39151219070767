"""PodTopologySpread: equal pods lie evenly over the domains of a node label.

Only hard constraints exclude nodes. A domain counts the pods of the nodes that have all the labels
of all constraints and that the constraint's policies include; a node that is not counted is judged
by its domain all the same.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from springtide.base.selectors import (
    MalformedSelector,
    Operator,
    Requirement,
    Selector,
    compile_selector,
)
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.domains import Codes, domains
from springtide.engine.framework.node_affinity import NodeAffinity
from springtide.engine.framework.rule import (
    SKIPPED,
    Broken,
    Outcome,
    Prepared,
    Reads,
    Ready,
    Selection,
    selection,
)
from springtide.engine.framework.taint_toleration import TaintToleration
from springtide.model.columns import Bool, Int64
from springtide.model.ledger import Ledger
from springtide.model.neighbours import SpreadConstraint
from springtide.model.presence import PodQuery, Scope

UNEVEN: Final = "node(s) didn't match pod topology spread constraints"
NO_LABEL: Final = f"{UNEVEN} (missing required label)"
MALFORMED: Final = "get constraints from pod: obtaining pod's hard topology spread constraints"


class PodTopologySpread:
    """The PodTopologySpread plugin of kube-scheduler; `defaults` are for pods without constraints."""

    name = "PodTopologySpread"
    reads = Reads.CLUSTER

    def __init__(self, defaults: tuple[SpreadConstraint, ...] = ()) -> None:
        self._defaults = tuple(each for each in defaults if each.is_hard)
        self._affinity = NodeAffinity()
        self._taints = TaintToleration()

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Count the pods of each domain, and find the domains that take no further one."""
        constraints = ask.spec.neighbours.spread
        default = ask.default_selector if not constraints and self._defaults else None
        if default is not None and not default.is_empty:
            return Ready(self._spread(self._defaults, [default] * len(self._defaults), ask, ledger))
        hard = [each for each in constraints if each.is_hard]
        if not hard:
            return SKIPPED
        labels = dict(ask.labels)
        try:
            selectors = [counted_by(each, labels) for each in hard]
        except MalformedSelector as fault:
            return Broken(f"{MALFORMED}: {fault.reason}")
        return Ready(self._spread(hard, selectors, ask, ledger))

    def _spread(
        self,
        constraints: Sequence[SpreadConstraint],
        selectors: Sequence[Selector],
        ask: PodAsk,
        ledger: Ledger,
    ) -> "_Spread":
        keyed = [domains(ledger, each.topology_key) for each in constraints]
        labelled: Bool = np.ones(ledger.count, np.bool_)
        for codes, _ in keyed:
            labelled &= codes != 0
        spread = []
        for constraint, selector, (codes, count) in zip(constraints, selectors, keyed, strict=True):
            counted = np.flatnonzero(labelled & self.included(constraint, ask, ledger))
            pods = matching(selector, ask, ledger)
            own = int(selector.matches(dict(ask.labels)))
            full = _full(constraint, own, _Counts(codes[counted], pods[counted], count))
            spread.append((codes, full))
        return _Spread(spread)

    def included(self, constraint: SpreadConstraint, ask: PodAsk, ledger: Ledger) -> Bool:
        """Return the rows that the constraint's policies do not leave out of the count."""
        rows = selection(np.arange(ledger.count))
        included: Bool = np.ones(ledger.count, np.bool_)
        if constraint.honors_affinity:
            meeting = self._affinity.meeting(ask.spec, ledger, rows)
            included = included if meeting is None else meeting
        if constraint.honors_taints:
            included &= ~self._taints.repelled(ask, ledger, rows)
        return included


class _Counts(msgspec.Struct, frozen=True):
    """Domain and number of pods of each row that counts, and how many domain codes there are."""

    codes: Codes
    pods: Int64
    size: int


class _Spread:
    """By constraint the domain of each row, and which domains are full."""

    def __init__(self, spread: list[tuple[Codes, Bool]]) -> None:
        self._spread = spread

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        assert ledger.count == len(self._spread[0][0]), "the ask must be prepared again"
        refused: Bool = np.zeros(len(selected.rows), np.bool_)
        unlabelled: Bool = np.zeros(len(selected.rows), np.bool_)
        for codes, full in self._spread:
            here = codes[selected.cells]
            unlabelled |= (here == 0) & ~refused
            refused |= (here == 0) | full[here]
        detail = unlabelled.astype(np.uint64) + np.uint64(1)
        return Outcome(refused=refused, unresolvable=unlabelled, detail=detail)

    def reasons(self, detail: int) -> tuple[str, ...]:
        return (NO_LABEL if detail & 2 else UNEVEN,)


def counted_by(constraint: SpreadConstraint, labels: Mapping[str, str]) -> Selector:
    """Return what counted pods match, or raise MalformedSelector."""
    selector = compile_selector(constraint.selector)
    same = tuple(
        Requirement(key=key, operator=Operator.EQUALS, values=(labels[key],))
        for key in constraint.match_label_keys
        if key in labels
    )
    if not same or selector.is_nothing:
        return selector
    return Selector(requirements=selector.requirements + same)


def matching(selector: Selector, ask: PodAsk, ledger: Ledger) -> Int64:
    """Return how many pods of each row match; kube-scheduler lets an empty selector count none."""
    if selector.is_empty:
        return np.zeros(ledger.count, np.int64)
    scope = Scope(selector, frozenset({ask.namespace}))
    query = PodQuery((scope,), with_terminating=False)
    return ledger.presences.answer(query)[: ledger.count]


def _full(constraint: SpreadConstraint, own: int, counts: _Counts) -> Bool:
    """Return for each domain code whether one more pod would make the domain too full."""
    pods = np.bincount(counts.codes, weights=counts.pods, minlength=counts.size).astype(np.int64)
    is_domain = np.bincount(counts.codes, minlength=counts.size) > 0
    number = int(np.count_nonzero(is_domain))
    least = int(pods[is_domain].min()) if number >= max(constraint.domains_min, 1) else 0
    full: Bool = pods + own - least > constraint.max_skew
    return full
