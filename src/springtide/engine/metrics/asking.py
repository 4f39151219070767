"""What an autoscaler asks for: a metric of one workload, by a selector of labels.

Labels of Kubernetes have characters that names of labels in Prometheus have not; they become underscores.
A label that a sample does not have is an empty one, as Prometheus has it.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from springtide.base.selectors import MalformedSelector, Operator, Requirement, parse_selector
from springtide.engine.metrics.reasons import AnswerReason, Refused
from springtide.engine.metrics.records import Metric

SELECTOR_CHARS_MAX: Final = 4096
REQUIREMENTS_MAX: Final = 20
ASKED_CACHE_ENTRIES: Final = 8192
_EQUAL: Final = (Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.IN)
_ORDERED: Final = (Operator.GREATER_THAN, Operator.LESS_THAN)
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_]")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One question: `place` is where samples of the workload are found, `rest` what they must meet besides."""

    namespace: str
    place: tuple[str, ...]
    rest: tuple[Requirement, ...]
    labels: tuple[tuple[str, str], ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether a sample of the workload is one of those asked for."""
        return all(_holds(each, labels.get(each.key, "")) for each in self.rest)


@lru_cache(maxsize=ASKED_CACHE_ENTRIES)
def read_asked(metric: Metric, namespace: str, text: str) -> Asked | Refused:
    """Return the question, or why it is none."""
    if len(text) > SELECTOR_CHARS_MAX:
        return _malformed(
            f"The selector has more than {SELECTOR_CHARS_MAX} characters. Shorten it."
        )
    try:
        found = parse_selector(text).requirements
    except MalformedSelector as fault:
        return _malformed(f"{fault} Correct the selector of the metric.")
    if len(found) > REQUIREMENTS_MAX:
        return _malformed(f"The selector has more than {REQUIREMENTS_MAX} parts. Shorten it.")
    if any(each.operator in _ORDERED for each in found):
        return _malformed("Labels are not compared by size here. Take < and > out of the selector.")
    return _bound(metric, namespace, found)


def _bound(metric: Metric, namespace: str, found: tuple[Requirement, ...]) -> Asked | Refused:
    equal = {_name(each.key): each.values[0] for each in found if _is_equal(each)}
    missing = [key for key in metric.required if not equal.get(key)]
    if missing:
        return Refused(
            reason=AnswerReason.UNBOUND_SELECTOR,
            message=f"The selector of {metric.name} must give exactly one value for "
            f"{' and '.join(missing)}: add {missing[0]}=NAME.",
        )
    place = tuple(equal[key] for key in metric.required)
    if metric.namespace_label:
        place = (namespace, *place)
    return Asked(
        namespace=namespace,
        place=place,
        rest=tuple(msgspec.structs.replace(each, key=_name(each.key)) for each in found),
        labels=tuple((each.key, each.values[0]) for each in found if _is_equal(each)),
    )


def _is_equal(requirement: Requirement) -> bool:
    return requirement.operator in _EQUAL and len(requirement.values) == 1


def _name(key: str) -> str:
    return _FOREIGN.sub("_", key)


def _holds(requirement: Requirement, value: str) -> bool:
    match requirement.operator:
        case Operator.NOT_IN | Operator.NOT_EQUALS:
            return value not in requirement.values
        case Operator.EXISTS:
            return value != ""
        case Operator.DOES_NOT_EXIST:
            return value == ""
        case _:
            return value in requirement.values


def _malformed(message: str) -> Refused:
    return Refused(reason=AnswerReason.MALFORMED_SELECTOR, message=message)
