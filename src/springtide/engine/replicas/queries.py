"""PromQL for one policy: its value, and with it how many members it covers and how old it is.

The three come in one answer, told apart by the label `hpa_q`, so that they are of one moment. A
row that is absent is none: Prometheus drops the count and the age when the last member dies, while
the value lives on for as long as the query looks back.
"""

from decimal import Decimal
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas.names import label_name, metric_name
from springtide.engine.replicas.selectors import selector, selectors
from springtide.model.replicas.matcher import Matcher
from springtide.model.replicas.policy import (
    Aggregation,
    Operator,
    Policy,
    RangeFunction,
    Wrapping,
)
from springtide.model.replicas.workload import Workload

ROW_LABEL: Final = "hpa_q"
VALUE_ROW: Final = "v"
COUNT_ROW: Final = "n"
AGE_ROW: Final = "age"
HEARTBEAT: Final = "hpa_heartbeat_timestamp_seconds"
BUILT_IN_LABELS: Final = ("deployment_environment_name", "service_namespace", "service_name")
LOOK_BACK_PERMILLE: Final = 4500

_HOUR_S: Final = 3600
_MINUTE_S: Final = 60


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What all queries of a workload share."""

    workload: Workload
    selectors: tuple[Matcher, ...] = ()
    without_selectors: tuple[str, ...] = ()
    instance_label: str = "service_instance_id"
    export_interval_s: int = 10
    look_back_permille: int = LOOK_BACK_PERMILLE

    @property
    def look_back_s(self) -> int:
        """Return how far back a value may lie that was not exported since."""
        permille = self.look_back_permille if self.look_back_permille > 0 else LOOK_BACK_PERMILLE
        return self.export_interval_s * permille // 1000


def with_defaults(policy: Policy, asking: Asking) -> Policy:
    """Return a built-in policy with the sum and the look-back of which it says nothing else."""
    if policy.query:
        return policy
    labels = tuple(each for each in BUILT_IN_LABELS if each in _labels(policy, asking))
    is_plain = policy.aggregation.operator is Operator.NONE
    if is_plain and not labels:
        return policy
    if not policy.functions and asking.look_back_s > 0:
        last = Wrapping(RangeFunction.LAST, asking.look_back_s)
        policy = replace(policy, functions=(last,))
    if is_plain:
        policy = replace(policy, aggregation=Aggregation(operator=Operator.SUM, by=labels))
    return policy


def value_query(policy: Policy, asking: Asking) -> str:
    """Return the query of a policy's value alone; a query of one's own is taken as it stands."""
    if policy.query:
        return policy.query
    wrapped = _wrapped(_selector(policy, asking), policy.functions)
    return _aggregated(wrapped, policy.aggregation)


def joint_query(policy: Policy, asking: Asking) -> str:
    """Return the query of the value with its count and age, as far as they can be told.

    A query of one's own that says neither stays as it is: only so may it be a scalar.
    """
    count, age = _checks(policy, asking)
    if not count and not age:
        return value_query(policy, asking)
    rows = [(_living_query(policy, asking), VALUE_ROW), (count, COUNT_ROW), (age, AGE_ROW)]
    return " or ".join(
        f'label_replace({query},"{ROW_LABEL}","{row}","","")' for query, row in rows if query
    )


def _living_query(policy: Policy, asking: Asking) -> str:
    """Return the query of the value without what members left who have ended since.

    Looking back over a range goes past the mark by which Prometheus ends a series, so a pod that is deleted would
    count for as long. Who has ended is known by its heartbeat: it was there within that time, and is there no more.
    """
    back_s = sum(each.range_s for each in policy.functions)
    if policy.query or not policy.has_heartbeat or back_s <= 0:
        return value_query(policy, asking)
    heartbeat = selector(HEARTBEAT, _matchers(policy, asking))
    member = f"on ({label_name(asking.instance_label)})"
    ended = f"(last_over_time({heartbeat}[{_duration(back_s)}]) unless {member} {heartbeat})"
    wrapped = _wrapped(_selector(policy, asking), policy.functions)
    return _aggregated(f"{wrapped} unless {member} {ended}", policy.aggregation)


def _checks(policy: Policy, asking: Asking) -> tuple[str, str]:
    if policy.query:
        return policy.coverage_query, policy.age_query
    per_member = f"count by ({label_name(asking.instance_label)})"
    if policy.has_heartbeat:
        heartbeat = selector(HEARTBEAT, _matchers(policy, asking))
        age_s_max = Decimal(policy.validity.data_age_max_ms) / 1000
        alive = f"{heartbeat} > (time()-{age_s_max:f})"
        return f"count({per_member}({alive}))", f"time()-min({heartbeat})"
    raw = _selector(policy, asking)
    return f"count({per_member}({raw}))", f"time()-min(timestamp({raw}))"


def _selector(policy: Policy, asking: Asking) -> str:
    name = metric_name(policy.name, unit=policy.unit, kind=policy.kind)
    return selector(name, _matchers(policy, asking))


def _matchers(policy: Policy, asking: Asking) -> tuple[Matcher, ...]:
    return selectors(
        asking.workload,
        added=(*asking.selectors, *policy.selectors),
        without=(*asking.without_selectors, *policy.without_selectors),
    )


def _labels(policy: Policy, asking: Asking) -> set[str]:
    return {each.label for each in _matchers(policy, asking)}


def _wrapped(inner: str, functions: tuple[Wrapping, ...]) -> str:
    """Return the selector in its functions; what is no selector any more needs a subquery."""
    listed = [each for each in functions if each.range_s > 0]
    for index, each in enumerate(listed):
        colon = ":" if index else ""
        inner = f"{each.function}({inner}[{_duration(each.range_s)}{colon}])"
    return inner


def _aggregated(inner: str, aggregation: Aggregation) -> str:
    match aggregation.operator:
        case Operator.NONE:
            return inner
        case Operator.COUNT_VALUES:
            label = aggregation.value_label
            return f'count_values("{label}", {inner})' if label else inner
        case Operator.TOPK | Operator.BOTTOMK as operator:
            return f"{operator}({aggregation.k}, {inner})" if aggregation.k > 0 else inner
        case operator:
            return f"{operator}{_grouping(aggregation)}({inner})"


def _grouping(aggregation: Aggregation) -> str:
    word, labels = ("by", aggregation.by) if aggregation.by else ("without", aggregation.without)
    if not labels:
        return ""
    return f" {word} ({','.join(label_name(each) for each in labels)}) "


def _duration(seconds: int) -> str:
    if seconds % _HOUR_S == 0:
        return f"{seconds // _HOUR_S}h"
    return f"{seconds // _MINUTE_S}m" if seconds % _MINUTE_S == 0 else f"{seconds}s"
