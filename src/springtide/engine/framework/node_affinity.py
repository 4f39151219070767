"""NodeAffinity: the node must meet the pod's selector and its required terms.

Terms that name their nodes (`matchFields` on `metadata.name`) restrict the pod to these nodes before
any node is looked at, which is how the pods of a DaemonSet find theirs.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from springtide.base.selectors import NodeSelectorTerm
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.label_columns import LabelColumns, columns_of
from springtide.engine.framework.node_terms import (
    NAME_FIELD,
    AnyOf,
    Conjunction,
    from_selector,
    from_terms,
)
from springtide.engine.framework.recent import Recent
from springtide.engine.framework.rule import (
    SKIPPED,
    Bits,
    Outcome,
    Prepared,
    Reads,
    Ready,
    Rejected,
    Selection,
)
from springtide.model.columns import Bool
from springtide.model.ledger import Ledger
from springtide.model.pod import PodSpec
from springtide.model.refusal import Refusal

MISMATCH: Final = "node(s) didn't match Pod's node affinity/selector"
MISMATCH_ENFORCED: Final = "node(s) didn't match scheduler-enforced node affinity"
CONFLICT: Final = "pod affinity terms conflict"

_Key = tuple[tuple[tuple[str, str], ...], tuple[NodeSelectorTerm, ...] | None]


class NodeAffinity:
    """The NodeAffinity plugin of kube-scheduler; `added_terms` are those it adds to every pod's."""

    name = "NodeAffinity"
    reads = Reads.NODE

    def __init__(self, added_terms: tuple[NodeSelectorTerm, ...] | None = None) -> None:
        self._added_terms = added_terms
        self._recent: Recent[_Key, _Conditions] = Recent()

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Compile the conditions, and find out whether they name the nodes."""
        spec = ask.spec
        terms = spec.required_node_terms
        if terms is None and not spec.node_selector and self._added_terms is None:
            return SKIPPED
        nodes = named_nodes(terms or ())
        if nodes is not None and not nodes:
            return Rejected(Refusal(rule=self.name, reasons=(CONFLICT,), is_unresolvable=True))
        return Ready(self._compiled(spec, ledger), nodes)

    def meeting(self, spec: PodSpec, ledger: Ledger, selected: Selection) -> Bool | None:
        """Return which rows meet the pod's own conditions, None if it has none."""
        if spec.required_node_terms is None and not spec.node_selector:
            return None
        return self._compiled(spec, ledger).own.where(ledger, selected)

    def _compiled(self, spec: PodSpec, ledger: Ledger) -> "_Conditions":
        labelsets = ledger.labelsets
        columns = columns_of(labelsets)
        key = (spec.node_selector, spec.required_node_terms)
        return self._recent.get(labelsets, key, lambda: self._conditions(spec, columns))

    def _conditions(self, spec: PodSpec, columns: LabelColumns) -> "_Conditions":
        added = None if self._added_terms is None else AnyOf(from_terms(self._added_terms), columns)
        return _Conditions(AnyOf(_own_conditions(spec), columns), added)


def named_nodes(terms: Sequence[NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the nodes that the terms name, None unless every term names some.

    Well-formed or not does not matter here, as in kube-scheduler.
    """
    named = [_named_by(term) for term in terms]
    known = [nodes for nodes in named if nodes is not None]
    return frozenset().union(*known) if named and len(known) == len(named) else None


def _named_by(term: NodeSelectorTerm) -> frozenset[str] | None:
    sets = [
        frozenset(field.values)
        for field in term.fields
        if field.key == NAME_FIELD and field.operator == "In"
    ]
    return frozenset.intersection(*sets) if sets else None


def _own_conditions(spec: PodSpec) -> list[Conjunction]:
    selector = from_selector(spec.node_selector)
    if spec.required_node_terms is None:
        return [selector]
    return [selector.also(term) for term in from_terms(spec.required_node_terms)]


class _Conditions:
    def __init__(self, own: AnyOf, added: AnyOf | None) -> None:
        self.own = own
        self._added = added

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        refused = ~self.own.where(ledger, selected)
        detail: Bits | None = None
        if self._added is not None:
            enforced = self._added.where(ledger, selected)
            detail = np.where(enforced, np.uint64(1), np.uint64(2))
            refused |= ~enforced
        return Outcome(refused=refused, unresolvable=refused, detail=detail)

    def reasons(self, detail: int) -> tuple[str, ...]:
        return (MISMATCH_ENFORCED if detail & 2 else MISMATCH,)
