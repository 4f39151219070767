"""The LabelSelector of API objects, compiled to a matcher.

A missing selector matches nothing, an empty one matches everything. Compilation is cached, because
thousands of pods share a handful of selectors.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from springtide.base.selectors import faults
from springtide.base.selectors.requirement import (
    NOTHING,
    MalformedSelector,
    Operator,
    Requirement,
    Selector,
    ordered,
    requirement_faults,
)

SELECTOR_CACHE_ENTRIES: Final = 4096

_OPERATORS: Final = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}


class LabelSelectorRequirement(Struct, frozen=True, kw_only=True):
    """One of `matchExpressions`, as the object has it; the operator may be anything."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A LabelSelector as the object has it; `match_labels` is sorted by key."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


def label_selector(
    match_labels: Mapping[str, str], match_expressions: Iterable[LabelSelectorRequirement] = ()
) -> LabelSelector:
    """Return the record of a selector, with its labels in order."""
    return LabelSelector(
        match_labels=tuple(sorted(match_labels.items())),
        match_expressions=tuple(match_expressions),
    )


@lru_cache(maxsize=SELECTOR_CACHE_ENTRIES)
def compile_selector(selector: LabelSelector | None) -> Selector:
    """Return the matcher of a selector, or raise MalformedSelector for its first bad part."""
    if selector is None:
        return NOTHING
    from_labels = [
        Requirement(key=key, operator=Operator.EQUALS, values=(value,))
        for key, value in selector.match_labels
    ]
    requirements = [_checked(each) for each in from_labels]
    requirements += [_checked(_requirement(each)) for each in selector.match_expressions]
    return ordered(requirements)


def format_label_selector(selector: LabelSelector | None) -> str:
    """Return the selector as kubectl shows it: `<none>` without conditions, `<error>` if malformed."""
    try:
        return str(compile_selector(selector)) or "<none>"
    except MalformedSelector:
        return "<error>"


def _requirement(expression: LabelSelectorRequirement) -> Requirement:
    operator = _OPERATORS.get(expression.operator)
    if operator is None:
        raise MalformedSelector(
            f"{faults.quoted(expression.operator)} is not a valid label selector operator"
        )
    return Requirement(key=expression.key, operator=operator, values=expression.values)


def _checked(requirement: Requirement) -> Requirement:
    # The API copies the values first, and an empty copy prints as null.
    found = requirement_faults(requirement, empty_list="null")
    if found:
        raise MalformedSelector(faults.joined(found))
    return requirement
