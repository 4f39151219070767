"""The node selector of our documents: `matchLabels` and `matchExpressions`, as in the API."""

import msgspec

from springtide.base.selectors import (
    LabelSelectorRequirement,
    MalformedSelector,
    Selector,
    compile_selector,
    label_selector,
)
from springtide.wire.origin import Origin
from springtide.wire.validation import Path


class Expression(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of `matchExpressions`."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeSelector(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A selector as written."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[Expression, ...] = ()


def to_selector(read: NodeSelector, *, origin: Origin, path: Path) -> Selector:
    """Return the matcher, or raise InvalidDocument; a selector of every node is refused."""
    expressions = tuple(
        LabelSelectorRequirement(key=each.key, operator=each.operator, values=each.values)
        for each in read.match_expressions
    )
    if not read.match_labels and not expressions:
        raise origin.fault(path, "this selects every node; add matchLabels or matchExpressions.")
    try:
        return compile_selector(label_selector(read.match_labels, expressions))
    except MalformedSelector as fault:
        raise origin.fault(path, f"{fault.reason}; correct the selector.") from fault
