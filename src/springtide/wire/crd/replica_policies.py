"""Policies of a ReplicasConfiguration: read into records, with what cannot be told by its field.

A mean over members is no total: divided by what one replica carries it says nothing, so it is
refused unless the document says that it is one.
"""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.model.replicas.matcher import Matcher, MatchOperator
from springtide.model.replicas.policy import (
    Aggregation,
    Fallback,
    Operator,
    Policy,
    Semantics,
    Validity,
    Wrapping,
)
from springtide.model.replicas.rules import REPLICAS_MAX
from springtide.wire.crd.replica_entries import (
    FunctionEntry,
    MatcherEntry,
    PolicyEntry,
    ValidityEntry,
)
from springtide.wire.crd.replica_times import second_ms, whole_ms
from springtide.wire.origin import Origin
from springtide.wire.validation import Key, Path

THRESHOLD_MAX: Final = 2**63 - 1
PERMILLE: Final = 1000
FAILURES_MAX: Final = 1000
DATA_AGE_MIN_MS: Final = 60_000
EXPORTS_MISSED: Final = 3
_MEAN: Final = re.compile(r"\s*avg\b", re.IGNORECASE)


class BuiltIn(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that every member exports; zero is no use of something that lives."""

    metric: str
    unit: str = ""
    is_zero_unknown: bool = False


BUILT_IN: Final = {
    "cpu": BuiltIn(metric="hpa_rule_cpu", unit="permillage", is_zero_unknown=True),
    "mainThreadCpu": BuiltIn(
        metric="hpa_rule_main_thread_cpu", unit="permillage", is_zero_unknown=True
    ),
    "memory": BuiltIn(metric="hpa_rule_memory", unit="bytes", is_zero_unknown=True),
    "recentTasks": BuiltIn(metric="hpa_rule_recent_max_task_count", unit="count"),
    "controllerStatus": BuiltIn(metric="hpa_rule_controller_status"),
}


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Where a policy stands, and what holds for all of them."""

    origin: Origin
    path: Path
    export_interval_ms: int


def read_policy(entry: PolicyEntry, reading: Reading, built_in: BuiltIn | None = None) -> Policy:
    """Return the policy, or raise InvalidDocument for its first fault."""
    origin, path = reading.origin, reading.path
    name = entry.metric or (built_in.metric if built_in is not None else "")
    if not name:
        raise origin.fault((*path, "metric"), "the policy has no metric; name it.")
    _check_thresholds(entry, reading)
    _check_steps(entry, reading)
    _check_fallback(entry, reading)
    aggregation = _aggregation(entry, reading)
    return Policy(
        name=name,
        unit=entry.unit or (built_in.unit if built_in is not None else ""),
        kind=entry.type,
        aggregation=aggregation,
        functions=tuple(
            _function(each, origin, (*path, "functions", index))
            for index, each in enumerate(entry.functions)
        ),
        selectors=matchers(entry.selectors),
        without_selectors=entry.without_selectors,
        query=entry.query,
        coverage_query=entry.coverage_query,
        age_query=entry.age_query,
        has_heartbeat=entry.heartbeat,
        up_per_replica=entry.thresholds.up,
        down_per_replica=entry.thresholds.down,
        step_up_max=entry.step_max.up,
        step_down_max=entry.step_max.down,
        window_up_ms=whole_ms(entry.window.up, origin, (*path, "window", "up")),
        window_down_ms=whole_ms(entry.window.down, origin, (*path, "window", "down")),
        is_required=entry.required,
        semantics=Semantics(entry.semantics),
        multi=entry.multi,
        reduction=entry.reduction,
        validity=_validity(entry.validity, reading, built_in),
        fallback=Fallback(
            replicas=entry.fallback.replicas, failures=entry.fallback.failure_threshold
        ),
    )


def matchers(entries: Mapping[str, str | MatcherEntry]) -> tuple[Matcher, ...]:
    """Return conditions: a text is what the label equals, and a map says how to compare."""
    return tuple(
        Matcher(label=label, value=entry)
        if isinstance(entry, str)
        else Matcher(label=label, value=entry.value, operator=MatchOperator(entry.op))
        for label, entry in entries.items()
    )


def check_scope(
    selectors: Mapping[str, str | MatcherEntry], without: tuple[str, ...], reading: Reading
) -> None:
    """Raise InvalidDocument if queries could match the members of another workload."""
    origin, path = reading.origin, reading.path
    scope = "hpa_target_name"
    if scope in without:
        reason = f"without {scope} the metrics of other workloads count as well; remove it here."
        raise origin.fault((*path, "withoutSelectors", without.index(scope)), reason)
    entry = selectors.get(scope)
    if isinstance(entry, MatcherEntry) and entry.op != "=":
        reason = "this can match several workloads; write the name of one."
        raise origin.fault((*path, "selectors", Key(scope)), reason)


def _check_thresholds(entry: PolicyEntry, reading: Reading) -> None:
    origin, path = reading.origin, (*reading.path, "thresholds")
    up, down = entry.thresholds.up, entry.thresholds.down
    for name, number in (("up", up), ("down", down)):
        if not 0 <= number <= THRESHOLD_MAX:
            raise origin.fault((*path, name), f"{number} is below zero or too large; correct it.")
    if up and down > up:
        reason = f"{down} is above `up`, which is {up}: it would grow and shrink at once; lower it."
        raise origin.fault((*path, "down"), reason)
    is_mean = bool(_MEAN.match(entry.query)) or (
        not entry.query
        and entry.aggregation is not None
        and entry.aggregation.operator is Operator.AVG
    )
    if (up or down) and is_mean and not entry.semantics:
        reason = (
            "a mean over members cannot be divided by what one replica carries; "
            "write sum, or `semantics: total` if the query makes a total of it."
        )
        field: Path = ("query",) if entry.query else ("aggregation", "operator")
        raise origin.fault((*reading.path, *field), reason)


def _check_steps(entry: PolicyEntry, reading: Reading) -> None:
    for name, number in (("up", entry.step_max.up), ("down", entry.step_max.down)):
        if not 0 <= number <= REPLICAS_MAX:
            reason = f"{number} is no step; write 0 for no limit, or up to {REPLICAS_MAX}."
            raise reading.origin.fault((*reading.path, "stepMax", name), reason)


def _check_fallback(entry: PolicyEntry, reading: Reading) -> None:
    origin, path = reading.origin, (*reading.path, "fallback")
    replicas, failures = entry.fallback.replicas, entry.fallback.failure_threshold
    if not 0 <= replicas <= REPLICAS_MAX:
        reason = f"{replicas} replicas cannot be; write 0 for none, or up to {REPLICAS_MAX}."
        raise origin.fault((*path, "replicas"), reason)
    if not 1 <= failures <= FAILURES_MAX:
        reason = f"{failures} is no number of failures; write 1 to {FAILURES_MAX}."
        raise origin.fault((*path, "failureThreshold"), reason)


def _aggregation(entry: PolicyEntry, reading: Reading) -> Aggregation:
    found = entry.aggregation
    if found is None:
        return Aggregation()
    path = (*reading.path, "aggregation")
    if found.by and found.without:
        raise reading.origin.fault((*path, "without"), "`by` is given as well; remove one of them.")
    if found.operator in {Operator.TOPK, Operator.BOTTOMK} and found.k < 1:
        raise reading.origin.fault(
            (*path, "k"), f"{found.operator} needs how many; write 1 or more."
        )
    if found.operator is Operator.COUNT_VALUES and not found.value_label:
        reason = "count_values needs a label for the values; name one."
        raise reading.origin.fault((*path, "valueLabel"), reason)
    return Aggregation(
        operator=found.operator,
        by=found.by,
        without=found.without,
        k=found.k,
        value_label=found.value_label,
    )


def _function(entry: FunctionEntry, origin: Origin, path: Path) -> Wrapping:
    range_ms = second_ms(entry.range, origin, (*path, "range"), least_ms=1000)
    return Wrapping(entry.name, range_ms // 1000)


def _validity(entry: ValidityEntry, reading: Reading, built_in: BuiltIn | None) -> Validity:
    origin, path = reading.origin, (*reading.path, "validity")
    for name, permille in (
        ("coverageUpPermille", entry.coverage_up_permille),
        ("coverageDownPermille", entry.coverage_down_permille),
    ):
        if not 0 <= permille <= PERMILLE:
            raise origin.fault((*path, name), f"{permille} is not from 0 to 1000; correct it.")
    least, most = entry.value_min, entry.value_max
    if least is not None and most is not None and least > most:
        raise origin.fault((*path, "valueMin"), f"{least} is above valueMax, {most}; lower it.")
    age_ms = max(EXPORTS_MISSED * reading.export_interval_ms, DATA_AGE_MIN_MS)
    if entry.data_age_max:
        age_ms = whole_ms(entry.data_age_max, origin, (*path, "dataAgeMax"))
    is_zero_unknown = built_in is not None and built_in.is_zero_unknown
    if entry.zero_means:
        is_zero_unknown = entry.zero_means == "unknown"
    return Validity(
        data_age_max_ms=age_ms,
        clock_skew_max_ms=whole_ms(entry.clock_skew_max, origin, (*path, "clockSkewMax")),
        coverage_up_permille=entry.coverage_up_permille,
        coverage_down_permille=entry.coverage_down_permille,
        value_min=least,
        value_max=most,
        is_empty_zero=entry.empty_means == "zero",
        is_zero_unknown=is_zero_unknown,
        do_warnings_block_up=entry.warnings_block_up,
        do_warnings_block_down=entry.warnings_block_down,
    )
