"""Where volumes can be reached from, where they may be made, and where there is room: as columns.

Storage names nodes by their labels only. Thousands of local volumes each name one host, so that
conditions on nothing but the hostname are joined into one.
"""

from collections.abc import Iterable
from typing import Final

from springtide.base.selectors import (
    LabelSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from springtide.engine.framework.label_columns import LabelColumns
from springtide.engine.framework.node_terms import AnyOf, Conjunction, from_selector, from_terms
from springtide.engine.simulation.sanitise import TEMPLATE_LABEL
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.storage import StorageClass

EVERYWHERE: Final = Conjunction()


def reach(terms: Iterable[NodeSelectorTerm], columns: LabelColumns) -> AnyOf:
    """Return the nodes that meet one of the terms by their labels; fields are never looked at."""
    hosts: set[str] = set()
    others: list[NodeSelectorTerm] = []
    for term in terms:
        host = _hosts(term)
        if host:
            hosts.update(host)
        else:
            others.append(term)
    if hosts:
        others.append(_term(HOSTNAME_LABEL, "In", tuple(sorted(hosts))))
    return AnyOf([Conjunction(labels=each.labels) for each in from_terms(others)], columns)


def anywhere(columns: LabelColumns) -> AnyOf:
    """Return all nodes."""
    return AnyOf([EVERYWHERE], columns)


def new_nodes(columns: LabelColumns) -> AnyOf:
    """Return the nodes that do not exist yet."""
    return AnyOf([from_selector([(TEMPLATE_LABEL, "true")])], columns)


def selected_by(selectors: Iterable[LabelSelector], columns: LabelColumns) -> AnyOf:
    """Return the nodes that one of the selectors selects; an empty one selects them all."""
    terms = [_as_term(each) for each in selectors]
    if any(not term.expressions for term in terms):
        return anywhere(columns)
    return reach(terms, columns)


def allowed_by(storage_class: StorageClass, columns: LabelColumns) -> AnyOf:
    """Return where a class may make volumes."""
    if not storage_class.topologies:
        return anywhere(columns)
    return reach(
        (
            NodeSelectorTerm(
                expressions=tuple(
                    NodeSelectorRequirement(key=key, operator="In", values=values)
                    for key, values in topology
                )
            )
            for topology in storage_class.topologies
        ),
        columns,
    )


def _hosts(term: NodeSelectorTerm) -> tuple[str, ...]:
    """Return the hostnames of a term that is about nothing else."""
    if term.fields or len(term.expressions) != 1:
        return ()
    (only,) = term.expressions
    return only.values if (only.key, only.operator) == (HOSTNAME_LABEL, "In") else ()


def _as_term(selector: LabelSelector) -> NodeSelectorTerm:
    labels = (_requirement(key, "In", (value,)) for key, value in selector.match_labels)
    expressions = (
        _requirement(each.key, each.operator, each.values) for each in selector.match_expressions
    )
    return NodeSelectorTerm(expressions=(*labels, *expressions))


def _term(key: str, operator: str, values: tuple[str, ...]) -> NodeSelectorTerm:
    return NodeSelectorTerm(expressions=(_requirement(key, operator, values),))


def _requirement(key: str, operator: str, values: tuple[str, ...]) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)
