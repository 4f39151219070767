"""One condition on one label, and the selector that AND-s several of them.

Label selectors, node selectors and the text form all come down to these records. A requirement that
`requirement_faults` accepts can be matched and printed; printing gives the canonical form, which
`parse_selector` reads back to the same matches.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, assert_never

from msgspec import Struct

from springtide.base import labels
from springtide.base.errors import SpringtideError
from springtide.base.selectors import faults


class MalformedSelector(SpringtideError):
    """A selector breaks a rule; `reason` keeps the words that Kubernetes uses."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The selector is malformed: {reason}.")
        self.reason = reason


class Operator(StrEnum):
    """What a requirement asks of its label; the values are the words of the text form."""

    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    GREATER_THAN = "gt"
    LESS_THAN = "lt"


class Requirement(Struct, frozen=True, kw_only=True):
    """A condition on the label `key`."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether the labels meet this condition."""
        value = labels.get(self.key)
        match self.operator:
            case Operator.IN | Operator.EQUALS | Operator.DOUBLE_EQUALS:
                return value is not None and value in self.values
            case Operator.NOT_IN | Operator.NOT_EQUALS:
                return value is None or value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case Operator.GREATER_THAN | Operator.LESS_THAN:
                return value is not None and self._compares(value)
            case _:
                assert_never(self.operator)

    def __str__(self) -> str:
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.DOES_NOT_EXIST:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator} ({','.join(sorted(self.values))})"
            case Operator.GREATER_THAN:
                return f"{self.key}>{self.values[0]}"
            case Operator.LESS_THAN:
                return f"{self.key}<{self.values[0]}"
            case Operator.EQUALS | Operator.DOUBLE_EQUALS | Operator.NOT_EQUALS:
                return f"{self.key}{self.operator}{self.values[0]}"
            case _:
                assert_never(self.operator)

    def _compares(self, value: str) -> bool:
        actual, bound = int64(value), int64(self.values[0])
        if actual is None or bound is None:
            return False
        return actual > bound if self.operator is Operator.GREATER_THAN else actual < bound


class Selector(Struct, frozen=True, kw_only=True):
    """All requirements must hold, so that none at all match everything; `is_nothing` matches nothing."""

    requirements: tuple[Requirement, ...] = ()
    is_nothing: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether this selector puts no condition at all."""
        return not self.requirements and not self.is_nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether the labels meet every requirement."""
        return not self.is_nothing and all(each.matches(labels) for each in self.requirements)

    def __str__(self) -> str:
        return ",".join(str(each) for each in self.requirements)


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(is_nothing=True)


def ordered(requirements: list[Requirement]) -> Selector:
    """Return the selector of these requirements in its canonical order, by key."""
    return Selector(requirements=tuple(sorted(requirements, key=lambda each: each.key)))


def requirement_faults(
    requirement: Requirement, *, path: str = "", empty_list: str = "[]"
) -> tuple[str, ...]:
    """Return what the API finds wrong with a requirement.

    `path` is where it stands, with its dot; `empty_list` is how a missing list of values prints.
    """
    return (
        *key_faults(requirement.key, path=f"{path}key"),
        *_values_faults(requirement, path=f"{path}values", empty_list=empty_list),
        *_label_value_faults(requirement, path=f"{path}values"),
    )


def key_faults(key: str, *, path: str) -> tuple[str, ...]:
    """Return the fault of a label key as a field fault."""
    found = labels.key_faults(key)
    return (faults.invalid(path, key, "; ".join(found)),) if found else ()


_INTEGER: Final = re.compile(r"([+-]?)0*([0-9]{1,19})")


def int64(text: str) -> int | None:
    """Read a decimal 64-bit number; a plus sign and leading zeros are fine."""
    matched = _INTEGER.fullmatch(text)
    if matched is None:
        return None
    number = int(matched[1] + matched[2])
    return number if -(2**63) <= number < 2**63 else None


def _values_faults(requirement: Requirement, *, path: str, empty_list: str) -> tuple[str, ...]:
    values = requirement.values
    match requirement.operator:
        case Operator.IN | Operator.NOT_IN:
            why = "for 'in', 'notin' operators, values set can't be empty"
            return () if values else (f"{path}: Invalid value: {empty_list}: {why}",)
        case Operator.EQUALS | Operator.DOUBLE_EQUALS | Operator.NOT_EQUALS:
            why = "exact-match compatibility requires one single value"
            return () if len(values) == 1 else (faults.invalid_list(path, values, why),)
        case Operator.EXISTS | Operator.DOES_NOT_EXIST:
            why = "values set must be empty for exists and does not exist"
            return (faults.invalid_list(path, values, why),) if values else ()
        case Operator.GREATER_THAN | Operator.LESS_THAN:
            return _number_faults(values, path=path)
        case _:
            assert_never(requirement.operator)


def _number_faults(values: tuple[str, ...], *, path: str) -> tuple[str, ...]:
    one = "for 'Gt', 'Lt' operators, exactly one value is required"
    integer = "for 'Gt', 'Lt' operators, the value must be an integer"
    return (
        *(() if len(values) == 1 else (faults.invalid_list(path, values, one),)),
        *(
            faults.invalid(f"{path}[{index}]", value, integer)
            for index, value in enumerate(values)
            if int64(value) is None
        ),
    )


def _label_value_faults(requirement: Requirement, *, path: str) -> tuple[str, ...]:
    return tuple(
        faults.invalid(f"{path}[{index}][{requirement.key}]", value, "; ".join(found))
        for index, value in enumerate(requirement.values)
        if (found := labels.value_faults(value))
    )
