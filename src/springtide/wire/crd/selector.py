"""The node selector of our documents: `matchLabels` and `matchExpressions`, as in the API."""

from typing import Annotated, Final

import msgspec

from springtide.base.selectors import (
    LabelSelectorRequirement,
    MalformedSelector,
    Selector,
    compile_selector,
    label_selector,
)
from springtide.wire.crd.fields import rule, told
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

TERMS_MAX: Final = 32
VALUES_MAX: Final = 256
KEY_CHARS_MAX: Final = 317
"""A prefix, a slash and a name."""
VALUE_CHARS_MAX: Final = 63

_VALUE: Final = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_PREFIX: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_KEY: Final = f"^({_PREFIX}/)?([A-Za-z0-9][-A-Za-z0-9_.]{{0,61}})?[A-Za-z0-9]$"
_PREFIX_CHARS_MAX: Final = 253
KEY_RULE: Final = rule(
    f"self.indexOf('/') <= {_PREFIX_CHARS_MAX}", "the prefix of the label is too long; correct it."
)
Value = Annotated[
    str,
    msgspec.Meta(extra_json_schema={"pattern": f"^{_VALUE}$", "maxLength": VALUE_CHARS_MAX}),
]


class Expression(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of `matchExpressions`."""

    key: Annotated[str, told("The label.", KEY_RULE, maxLength=KEY_CHARS_MAX, pattern=_KEY)]
    operator: Annotated[
        str, told("What is asked of it.", enum=["In", "NotIn", "Exists", "DoesNotExist"])
    ]
    values: Annotated[
        tuple[Value, ...],
        told("Its values, for In and NotIn.", maxItems=VALUES_MAX),
    ] = ()


EXPRESSION_RULE: Final = rule(
    "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
    "In and NotIn need values, Exists and DoesNotExist have none.",
    field="values",
)
Term = Annotated[
    Expression,
    msgspec.Meta(extra_json_schema={"x-kubernetes-validations": [dict(EXPRESSION_RULE)]}),
]
LABELS_RULE: Final = rule(
    f"self.all(each, each.matches('{_KEY}') && each.size() <= {KEY_CHARS_MAX} "
    f"&& each.indexOf('/') <= {_PREFIX_CHARS_MAX})",
    "a key is no name of a label; correct it.",
)
SELECTOR_RULE: Final = rule(
    "(has(self.matchLabels) && self.matchLabels.size() > 0) "
    "|| (has(self.matchExpressions) && self.matchExpressions.size() > 0)",
    "this selects every node; add matchLabels or matchExpressions.",
)


class NodeSelector(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A selector as written."""

    match_labels: Annotated[
        dict[str, Value],
        told("Labels that a node must have.", LABELS_RULE, maxProperties=TERMS_MAX),
    ] = {}
    match_expressions: Annotated[
        tuple[Term, ...],
        told("What else must be so of its labels.", maxItems=TERMS_MAX),
    ] = ()


def to_selector(read: NodeSelector, *, origin: Origin, path: Path) -> Selector:
    """Return the matcher, or raise InvalidDocument; a selector of every node is refused."""
    _check_sizes(read, origin, path)
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


def _check_sizes(read: NodeSelector, origin: Origin, path: Path) -> None:
    sizes = (
        (("matchLabels",), len(read.match_labels), TERMS_MAX),
        (("matchExpressions",), len(read.match_expressions), TERMS_MAX),
        *(
            (("matchExpressions", index, "values"), len(each.values), VALUES_MAX)
            for index, each in enumerate(read.match_expressions)
        ),
    )
    for field, count, most in sizes:
        if count > most:
            raise origin.fault((*path, *field), f"{count} are more than {most}; write fewer.")
