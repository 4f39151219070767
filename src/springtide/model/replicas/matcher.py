"""One condition on a label of a metric."""

from enum import StrEnum

import msgspec


class MatchOperator(StrEnum):
    """How a label's value is compared, as PromQL writes it."""

    EQUAL = "="
    NOT_EQUAL = "!="
    REGEX = "=~"
    NOT_REGEX = "!~"


class Matcher(msgspec.Struct, frozen=True, kw_only=True):
    """A label whose value must be, or must not be, like this."""

    label: str
    value: str
    operator: MatchOperator = MatchOperator.EQUAL
