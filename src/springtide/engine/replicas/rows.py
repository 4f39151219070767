"""The rows of one answer told apart: the value, how many members it covers, and the oldest age."""

from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, Context, Decimal
from typing import Final

import msgspec

from springtide.engine.replicas.queries import AGE_ROW, COUNT_ROW, ROW_LABEL, VALUE_ROW
from springtide.model.replicas.answer import Answered, Series
from springtide.model.replicas.policy import Reduction

_EXACT: Final = Context(prec=1400, rounding=ROUND_CEILING)
"""Holds the sum of any two numbers that a float can be; a mean that never ends is rounded up."""


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer says; a count or an age that is absent is None, which is no zero."""

    values: tuple[Decimal, ...]
    at_ms: int | None = None
    count: Decimal | None = None
    age_s: Decimal | None = None
    warnings: tuple[str, ...] = ()


def rows_of(answer: Answered, reduction: Reduction) -> Rows:
    """Return the rows of an answer; series without the label that tells them apart are values."""
    values = _labelled(answer.series, VALUE_ROW)
    return Rows(
        values=tuple(reduced(each, reduction) for each in values),
        at_ms=max((each.samples[-1].at_ms for each in answer.series), default=None),
        count=_least(_labelled(answer.series, COUNT_ROW)),
        age_s=_largest(_labelled(answer.series, AGE_ROW)),
        warnings=answer.warnings,
    )


def reduced(series: Series, reduction: Reduction) -> Decimal:
    """Return the one value that a series with several times stands for."""
    numbers = [each.value for each in series.samples]
    if len(numbers) == 1:
        return numbers[0]
    if not all(each.is_finite() for each in numbers):
        return Decimal("NaN")
    return _REDUCED[reduction](numbers)


def total(numbers: Iterable[Decimal]) -> Decimal:
    """Return the exact sum."""
    whole = Decimal(0)
    for each in numbers:
        whole = _EXACT.add(whole, each)
    return whole


def _labelled(series: Iterable[Series], row: str) -> list[Series]:
    return [each for each in series if each.labels.get(ROW_LABEL, VALUE_ROW) == row]


def _least(series: list[Series]) -> Decimal | None:
    return min((_ordered(each) for each in series), default=None)


def _largest(series: list[Series]) -> Decimal | None:
    return max((_ordered(each) for each in series), default=None)


def _ordered(series: Series) -> Decimal:
    """Return the last number of a series; what is none stands for endless."""
    last = series.samples[-1].value
    return Decimal("Infinity") if last.is_nan() else last


def _mean(numbers: list[Decimal]) -> Decimal:
    return _EXACT.divide(total(numbers), Decimal(len(numbers)))


_REDUCED: Final[dict[Reduction, Callable[[list[Decimal]], Decimal]]] = {
    Reduction.LAST: lambda numbers: numbers[-1],
    Reduction.FIRST: lambda numbers: numbers[0],
    Reduction.SUM: total,
    Reduction.AVG: _mean,
    Reduction.MIN: min,
    Reduction.MAX: max,
}
