"""One answer from the samples of one workload.

Stale samples and those that are no numbers are left out, and never stand for a zero. What is left comes
to one number; several sources of the same samples do no harm to a maximum.
"""

from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Final

from springtide.engine.metrics.asking import Asked
from springtide.engine.metrics.reasons import AnswerReason, Refused
from springtide.engine.metrics.records import (
    Aggregator,
    Answered,
    Metric,
    Role,
    Sample,
    Workload,
)
from springtide.engine.metrics.table import EMPTY, Table

VALUE_MAX: Final = Decimal(9_200_000_000_000_000)
"""In thousandths it still fits into 64 bits, which is how autoscalers count."""
BEYOND_S_MAX: Final = 120.0
SURGE_MAX: Final = 1
"""So far above the replicas an index may be for that long: a pod may be on its way."""

_Valued = tuple[Decimal, Sample]


def answer(
    metric: Metric,
    asked: Asked,
    table: Table,
    *,
    now_s: float,
    workload: Workload | None = None,
) -> Answered | Refused:
    """Return the value, or why there is none; `now_s` is of the clock by which the table was seen."""
    refused = _unusable(metric, table, now_s)
    if refused is not None:
        return refused
    samples = [each for each in table.samples.get(asked.place, EMPTY) if asked.matches(each.labels)]
    if not samples:
        return Refused(
            reason=AnswerReason.NO_SAMPLES,
            message=f"There are no samples of {metric.name} for {_subject(asked)}. "
            "Check that its pods export it, and the selector.",
        )
    later_s = now_s - table.seen_s
    fresh = [each for each in samples if table.unix_s - each.unix_s + later_s <= metric.age_s_max]
    if not fresh:
        return Refused(
            reason=AnswerReason.STALE_SAMPLES,
            message=f"All samples of {metric.name} for {_subject(asked)} are older than "
            f"{metric.age_s_max:g} s. Check that its pods run and are scraped.",
        )
    return _counted(metric, asked, _numbers(fresh), workload)


def members(metric: Metric, valued: Sequence[_Valued]) -> int:
    """Return how many members have spoken."""
    return len({each.labels.get(metric.member_label, "") for _, each in valued})


def _unusable(metric: Metric, table: Table, now_s: float) -> Refused | None:
    if now_s - table.seen_s > metric.hold_s:
        return Refused(
            reason=AnswerReason.SOURCE_UNAVAILABLE,
            message=f"Nothing has been heard of {metric.name} for more than {metric.hold_s:g} s. "
            "Look at the adapter's log and at where it queries.",
        )
    if not table.is_clear:
        return Refused(
            reason=AnswerReason.AMBIGUOUS_SERIES,
            message=f"{metric.name} is there by several names: {', '.join(table.names)}. "
            "Name the right one in the adapter's configuration.",
        )
    if table.is_partial:
        return Refused(
            reason=AnswerReason.PARTIAL_ANSWER,
            message=f"The samples of {metric.name} may be incomplete. Look at the adapter's log.",
        )
    return None


def _numbers(samples: Sequence[Sample]) -> list[_Valued]:
    found = [(_number(each.text), each) for each in samples]
    return [(number, each) for number, each in found if number is not None]


def _number(text: str) -> Decimal | None:
    """Return a number that is not negative, None for anything else."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and number >= 0 else None


def _counted(
    metric: Metric, asked: Asked, valued: Sequence[_Valued], workload: Workload | None
) -> Answered | Refused:
    if not valued:
        return Refused(
            reason=AnswerReason.NO_VALID_SAMPLES,
            message=f"No sample of {metric.name} for {_subject(asked)} is a number from 0 on.",
        )
    value = _aggregated(metric.aggregator, [number for number, _ in valued])
    if workload is not None and workload.recorded is not None:
        value = max(value, Decimal(workload.recorded))
    if metric.is_whole:
        value = value.to_integral_value(ROUND_CEILING)
    refused = _out_of_bounds(metric, asked, value)
    if refused is None and metric.checks_members:
        refused = _contradicted(metric, asked, valued, value, workload)
    if refused is not None:
        return refused
    return Answered(value=value, unix_s=min(each.unix_s for _, each in valued))


def _aggregated(aggregator: Aggregator, numbers: Sequence[Decimal]) -> Decimal:
    match aggregator:
        case Aggregator.MAX:
            return max(numbers)
        case Aggregator.MIN:
            return min(numbers)
        case Aggregator.SUM:
            return sum(numbers, Decimal(0))


def _out_of_bounds(metric: Metric, asked: Asked, value: Decimal) -> Refused | None:
    if value > VALUE_MAX:
        return Refused(
            reason=AnswerReason.OUT_OF_RANGE,
            message=f"{metric.name} for {_subject(asked)} is larger than an autoscaler can count.",
        )
    if metric.role is Role.EXPECTED and value < 1:
        return Refused(
            reason=AnswerReason.BELOW_LEAST,
            message=f"{metric.name} for {_subject(asked)} is {value}, which is no number of replicas.",
        )
    return None


def _contradicted(
    metric: Metric,
    asked: Asked,
    valued: Sequence[_Valued],
    value: Decimal,
    workload: Workload | None,
) -> Refused | None:
    """Return why the cluster speaks against a value, None if it does not."""
    if workload is None:
        return Refused(
            reason=AnswerReason.WORKLOAD_UNKNOWN,
            message=f"It cannot be told how many members {_subject(asked)} has. "
            "Check its name and kind, and the adapter's rights.",
        )
    found = members(metric, valued)
    if found < workload.members and workload.recorded is None:
        return Refused(
            reason=AnswerReason.MEMBERS_MISSING,
            message=f"Only {found} of {workload.members} members of {_subject(asked)} have sent "
            f"{metric.name}. Check that all its pods are scraped.",
        )
    if value > workload.replicas + SURGE_MAX and workload.beyond_s > BEYOND_S_MAX:
        return Refused(
            reason=AnswerReason.BEYOND_WORKLOAD,
            message=f"{metric.name} for {_subject(asked)} is {value}, far beyond its "
            f"{workload.replicas} replicas. Count from spec.ordinals.start.",
        )
    return None


def _subject(asked: Asked) -> str:
    return "/".join((asked.namespace, *asked.place[-1:]))
