"""Conditions on nodes, compiled for columns: which rows meet at least one of several terms.

Conditions on labels are judged once per distinct label set. Those on the hostname and on the node's
own name differ from row to row, so they are judged by row, and only where the rest of the term
holds. A malformed term is never met, and neither is an empty one.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Final

import msgspec
import numpy as np

from springtide.base.selectors import (
    NodeSelectorRequirement,
    NodeSelectorTerm,
    term_faults,
    term_matches,
)
from springtide.engine.framework.label_columns import LabelColumns
from springtide.engine.framework.rule import Rows, Selection
from springtide.model.columns import Bool
from springtide.model.ledger import Ledger
from springtide.model.node import HOSTNAME_LABEL

NAME_FIELD: Final = "metadata.name"
NO_ROW: Final = -1
TERM_CACHE_ENTRIES: Final = 4096

Holds = Callable[[str | None], bool]


class Conjunction(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions that one node must all meet, on labels by key and on fields."""

    labels: tuple[tuple[str, Holds], ...] = ()
    fields: tuple[NodeSelectorRequirement, ...] = ()

    @property
    def is_particular(self) -> bool:
        """Return whether two nodes with the same labels may be told apart."""
        return bool(self.fields) or any(key == HOSTNAME_LABEL for key, _ in self.labels)

    def also(self, other: "Conjunction") -> "Conjunction":
        """Return the conjunction of both."""
        return Conjunction(labels=self.labels + other.labels, fields=self.fields + other.fields)


def from_selector(selector: Iterable[tuple[str, str]]) -> Conjunction:
    """Return the condition of a node selector; its values are compared, never validated."""
    return Conjunction(labels=tuple((key, partial(operator.eq, want)) for key, want in selector))


def from_terms(terms: Iterable[NodeSelectorTerm]) -> tuple[Conjunction, ...]:
    """Return the conditions of the terms that can be met at all."""
    return tuple(each for each in map(_conjunction, terms) if each is not None)


class AnyOf:
    """At least one of the conjunctions, over the label sets of one ledger."""

    def __init__(self, conjunctions: Sequence[Conjunction], columns: LabelColumns) -> None:
        self._columns = columns
        self._alike = [each for each in conjunctions if not each.is_particular]
        self._particular = [each for each in conjunctions if each.is_particular]
        self._labelsets = -1
        self._met_alike: Bool = np.zeros(0, np.bool_)
        self._may_meet: list[Bool] = []

    def where(self, ledger: Ledger, selected: Selection) -> Bool:
        """Return which of the selected rows meet a conjunction."""
        self._follow(ledger)
        codes = ledger.labelset[selected.cells]
        met = self._met_alike.take(codes)
        for conjunction, may_meet in zip(self._particular, self._may_meet, strict=True):
            candidates = np.flatnonzero(may_meet.take(codes) & ~met)
            met[candidates] = _meets(conjunction, ledger, selected.rows[candidates])
        return met

    def _follow(self, ledger: Ledger) -> None:
        """Judge the label sets, again if there are more of them than last time."""
        assert ledger.labelsets is self._columns.labelsets
        if self._labelsets == len(ledger.labelsets):
            return
        self._labelsets = len(ledger.labelsets)
        self._met_alike = np.zeros(self._labelsets, np.bool_)
        for conjunction in self._alike:
            self._met_alike |= self._by_labelset(conjunction)
        self._may_meet = [self._by_labelset(each) for each in self._particular]

    def _by_labelset(self, conjunction: Conjunction) -> Bool:
        met: Bool = np.ones(self._labelsets, np.bool_)
        for key, holds in conjunction.labels:
            if key != HOSTNAME_LABEL:
                met &= self._columns.where(key, holds)
        return met


@lru_cache(maxsize=TERM_CACHE_ENTRIES)
def _conjunction(term: NodeSelectorTerm) -> Conjunction | None:
    if not (term.expressions or term.fields) or term_faults(term, path=""):
        return None
    labels = tuple((each.key, _condition(each)) for each in term.expressions)
    return Conjunction(labels=labels, fields=term.fields)


def _condition(requirement: NodeSelectorRequirement) -> Holds:
    values = frozenset(requirement.values)
    match requirement.operator:
        case "In":
            return values.__contains__
        case "NotIn":
            return lambda value: value not in values
        case _:
            return partial(_term_meets, NodeSelectorTerm(expressions=(requirement,)))


def _term_meets(term: NodeSelectorTerm, value: str | None) -> bool:
    labels = {} if value is None else {term.expressions[0].key: value}
    return term_matches(term, labels, name="")


def _meets(conjunction: Conjunction, ledger: Ledger, rows: Rows) -> Bool:
    met: Bool = np.ones(len(rows), np.bool_)
    for field in conjunction.fields:
        met &= _field_meets(field, ledger, rows)
    for key, holds in conjunction.labels:
        if key == HOSTNAME_LABEL:
            left = np.flatnonzero(met)
            met[left] = [holds(ledger.hostnames[row]) for row in rows[left].tolist()]
    return met


def _field_meets(field: NodeSelectorRequirement, ledger: Ledger, rows: Rows) -> Bool:
    wanted = field.values[0]
    if field.key == NAME_FIELD:
        same: Bool = rows == ledger.rows.get(wanted, NO_ROW)
    else:
        # Nodes show one field; kube-scheduler reads any other as an empty text.
        same = np.full(len(rows), not wanted)
    return same if field.operator == "In" else ~same
