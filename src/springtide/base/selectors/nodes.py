"""Node selector terms, as required node affinity states them.

Terms are OR-ed, the expressions and fields inside one are AND-ed, and a term without either matches
nothing. Matching is lenient like kube-scheduler's: a malformed term never matches, and the others
still count. `node_selector_fault` is the strict complaint about all of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from springtide.base.selectors import faults
from springtide.base.selectors.requirement import Operator, Requirement, requirement_faults

TERM_CACHE_ENTRIES: Final = 4096
NAME_FIELD: Final = "metadata.name"

_OPERATORS: Final = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
    "Gt": Operator.GREATER_THAN,
    "Lt": Operator.LESS_THAN,
}
_FIELD_OPERATORS: Final = ("In", "NotIn")


class NodeSelectorRequirement(Struct, frozen=True, kw_only=True):
    """A condition on a node label or node field, as the object has it."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Conditions that one node must all meet: `matchExpressions` and `matchFields`."""

    expressions: tuple[NodeSelectorRequirement, ...] = ()
    fields: tuple[NodeSelectorRequirement, ...] = ()


def any_term_matches(
    terms: Iterable[NodeSelectorTerm], labels: Mapping[str, str], *, name: str
) -> bool:
    """Say whether the node meets at least one term; malformed terms are passed over."""
    return any(term_matches(term, labels, name=name) for term in terms)


def term_matches(term: NodeSelectorTerm, labels: Mapping[str, str], *, name: str) -> bool:
    """Say whether the node meets this term; a malformed or empty term is never met."""
    requirements = _compiled(term)
    if requirements is None:
        return False
    if not all(each.matches(labels) for each in requirements):
        return False
    # kube-scheduler looks at fields only on nodes that have a name.
    return not name or all(_field_matches(each, name=name) for each in term.fields)


def node_selector_fault(terms: Sequence[NodeSelectorTerm]) -> str | None:
    """Return everything that is wrong with the terms as one text, None if all are well formed."""
    found = [
        fault
        for index, term in enumerate(terms)
        for fault in term_faults(term, path=f"nodeSelectorTerms[{index}]")
    ]
    return faults.joined(found) if found else None


def term_faults(term: NodeSelectorTerm, *, path: str) -> tuple[str, ...]:
    """Return what is wrong with a term that stands at this path."""
    return (
        *(
            fault
            for index, each in enumerate(term.expressions)
            for fault in _expression_faults(each, path=f"{path}.matchExpressions[{index}].")
        ),
        *(
            fault
            for index, each in enumerate(term.fields)
            for fault in _field_faults(each, path=f"{path}.matchFields[{index}].")
        ),
    )


@lru_cache(maxsize=TERM_CACHE_ENTRIES)
def _compiled(term: NodeSelectorTerm) -> tuple[Requirement, ...] | None:
    """Return the label requirements of a term, None if nothing can ever meet it."""
    if not (term.expressions or term.fields) or term_faults(term, path=""):
        return None
    return tuple(_requirement(each, _OPERATORS[each.operator]) for each in term.expressions)


def _requirement(each: NodeSelectorRequirement, operator: Operator) -> Requirement:
    return Requirement(key=each.key, operator=operator, values=each.values)


def _field_matches(each: NodeSelectorRequirement, *, name: str) -> bool:
    # Nodes show one field; kube-scheduler reads any other key as an empty text.
    actual = name if each.key == NAME_FIELD else ""
    return (actual == each.values[0]) == (each.operator == "In")


def _expression_faults(each: NodeSelectorRequirement, *, path: str) -> tuple[str, ...]:
    operator = _OPERATORS.get(each.operator)
    if operator is None:
        return (faults.unsupported(f"{path}operator", each.operator, tuple(_OPERATORS)),)
    return requirement_faults(_requirement(each, operator), path=path)


def _field_faults(each: NodeSelectorRequirement, *, path: str) -> tuple[str, ...]:
    if each.operator not in _FIELD_OPERATORS:
        return (faults.unsupported(f"{path}operator", each.operator, _FIELD_OPERATORS),)
    if len(each.values) != 1:
        return (faults.invalid_list(f"{path}values", each.values, "must have one element"),)
    return ()
