"""What is asked of Prometheus, to the letter."""

import pytest

from springtide.engine.replicas.names import label_name, metric_name
from springtide.engine.replicas.queries import Asking, joint_query, value_query, with_defaults
from springtide.engine.replicas.selectors import is_scoped, selectors
from springtide.model.replicas.matcher import Matcher, MatchOperator
from springtide.model.replicas.policy import (
    Aggregation,
    MetricKind,
    Operator,
    Policy,
    RangeFunction,
    Wrapping,
)
from springtide.model.replicas.workload import Workload

CHAT = Workload(
    name="W",
    kind="StatefulSet",
    api_version="apps/v1",
    environment="E",
    service="S",
    service_namespace="N",
)
SCOPE = (
    '{deployment_environment_name="E",hpa_target_api_version="apps/v1",'
    'hpa_target_kind="StatefulSet",hpa_target_name="W",service_name="S",service_namespace="N"}'
)
DEPLOYED = Asking(workload=CHAT, look_back_permille=5000)
BARE = Asking(workload=Workload(name=""))

BUILT_IN = {
    "cpu": ("hpa_rule_cpu", "permillage", "hpa_rule_cpu_permillage"),
    "main thread": (
        "hpa_rule_main_thread_cpu",
        "permillage",
        "hpa_rule_main_thread_cpu_permillage",
    ),
    "memory": ("hpa_rule_memory", "bytes", "hpa_rule_memory_bytes"),
    "tasks": ("hpa_rule_recent_max_task_count", "count", "hpa_rule_recent_max_task_count"),
}


@pytest.mark.parametrize(("name", "unit", "series"), BUILT_IN.values(), ids=BUILT_IN)
def test_a_built_in_policy_sums_what_was_exported_last(name: str, unit: str, series: str) -> None:
    """Covers R-6 in part."""
    policy = with_defaults(Policy(name=name, unit=unit), DEPLOYED)

    assert value_query(policy, DEPLOYED) == (
        "sum by (deployment_environment_name,service_namespace,service_name) "
        f"(last_over_time({series}{SCOPE}[50s]))"
    )


def test_an_aggregation_of_ones_own_gains_only_the_look_back() -> None:
    policy = Policy(name="x", aggregation=Aggregation(operator=Operator.MAX))

    found = value_query(with_defaults(policy, DEPLOYED), DEPLOYED)

    assert found == f"max(last_over_time(x{SCOPE}[50s]))"


def test_functions_of_ones_own_stay_alone() -> None:
    policy = Policy(
        name="x",
        functions=(Wrapping(RangeFunction.MAX, 3600),),
        aggregation=Aggregation(operator=Operator.SUM, without=("pod",)),
    )

    found = value_query(with_defaults(policy, BARE), BARE)

    assert found == "sum without (pod) (max_over_time(x[1h]))"


def test_without_a_label_to_sum_by_a_policy_stays_as_it_is() -> None:
    policy = Policy(name="x")

    assert with_defaults(policy, BARE) == policy


def test_a_query_of_ones_own_is_taken_as_it_stands() -> None:
    policy = Policy(name="x", query="sum(rooms) + 1")

    assert value_query(with_defaults(policy, DEPLOYED), DEPLOYED) == "sum(rooms) + 1"
    assert joint_query(policy, DEPLOYED) == "sum(rooms) + 1"
    assert not policy.is_checked


def test_a_custom_policy_is_raw() -> None:
    assert value_query(Policy(name="rooms", unit="open"), BARE) == "rooms_open"


def test_z_13_a_second_function_looks_at_a_subquery() -> None:
    """Covers R-15 in part."""
    functions = (Wrapping(RangeFunction.RATE, 60), Wrapping(RangeFunction.AVG, 300))
    policy = Policy(name="x", functions=(*functions, Wrapping(RangeFunction.SUM, 0)))

    assert value_query(policy, BARE) == "avg_over_time(rate(x[1m])[5m:])"


def test_z_14_values_are_escaped() -> None:
    policy = Policy(name="x", selectors=(Matcher(label="a.b", value='a"b\\c\n'),))

    assert value_query(policy, BARE) == 'x{a_b="a\\"b\\\\c\\n"}'


AGGREGATED = {
    "count values": (
        Aggregation(operator=Operator.COUNT_VALUES, value_label="v"), 'count_values("v", x)'
    ),
    "count values of nothing": (Aggregation(operator=Operator.COUNT_VALUES), "x"),
    "topk": (Aggregation(operator=Operator.TOPK, k=3), "topk(3, x)"),
    "topk of none": (Aggregation(operator=Operator.TOPK), "x"),
    "min": (Aggregation(operator=Operator.MIN), "min(x)"),
}  # fmt: skip


@pytest.mark.parametrize(("aggregation", "query"), AGGREGATED.values(), ids=AGGREGATED)
def test_an_aggregation_reads(aggregation: Aggregation, query: str) -> None:
    assert value_query(Policy(name="x", aggregation=aggregation), BARE) == query


def test_value_count_and_age_are_asked_for_together() -> None:
    asking = Asking(workload=Workload(name="W"))
    scope = '{hpa_target_name="W"}'
    heartbeat = f"hpa_heartbeat_timestamp_seconds{scope}"

    assert joint_query(Policy(name="x"), asking) == (
        f'label_replace(x{scope},"hpa_q","v","","") or '
        f"label_replace(count(count by (service_instance_id)({heartbeat} > (time()-60))),"
        '"hpa_q","n","","") or '
        f'label_replace(time()-min({heartbeat}),"hpa_q","age","","")'
    )


def test_what_members_left_who_have_ended_is_not_looked_back_at() -> None:
    asking = Asking(workload=Workload(name="W"))
    policy = with_defaults(Policy(name="x", aggregation=Aggregation(operator=Operator.SUM)), asking)
    heartbeat = 'hpa_heartbeat_timestamp_seconds{hpa_target_name="W"}'

    assert joint_query(policy, asking).startswith(
        'label_replace(sum(last_over_time(x{hpa_target_name="W"}[45s]) unless on (service_instance_id) '
        f"(last_over_time({heartbeat}[45s]) unless on (service_instance_id) {heartbeat})),"
    )


def test_a_foreign_metric_is_checked_by_its_own_samples() -> None:
    policy = Policy(name="x", has_heartbeat=False, functions=(Wrapping(RangeFunction.RATE, 60),))

    assert joint_query(policy, BARE) == (
        'label_replace(rate(x[1m]),"hpa_q","v","","") or '
        'label_replace(count(count by (service_instance_id)(x)),"hpa_q","n","","") or '
        'label_replace(time()-min(timestamp(x)),"hpa_q","age","","")'
    )


def test_later_matchers_take_the_place_of_earlier_ones_and_some_are_left_out() -> None:
    added = (
        Matcher(label="service.name", value="chat-.*", operator=MatchOperator.REGEX),
        Matcher(label="zone", value="b", operator=MatchOperator.NOT_EQUAL),
    )

    found = selectors(CHAT, added=added, without=("deployment.environment.name",))

    assert [(each.label, each.operator.value, each.value) for each in found] == [
        ("hpa_target_api_version", "=", "apps/v1"),
        ("hpa_target_kind", "=", "StatefulSet"),
        ("hpa_target_name", "=", "W"),
        ("service_name", "=~", "chat-.*"),
        ("service_namespace", "=", "N"),
        ("zone", "!=", "b"),
    ]


def test_a_query_without_its_workload_is_not_scoped() -> None:
    """Covers R-41 in part."""
    wide = Matcher(label="hpa_target_name", value=".*", operator=MatchOperator.REGEX)

    assert is_scoped(selectors(CHAT))
    assert not is_scoped(selectors(CHAT, without=("hpa_target_name",)))
    assert not is_scoped(selectors(CHAT, added=(wide,)))


NAMES = {
    "a unit": ("hpa_rule_cpu", "permillage", MetricKind.GAUGE, "hpa_rule_cpu_permillage"),
    "the unit is there already": ("open_count", "count", MetricKind.GAUGE, "open_count"),
    "one is no unit": ("open", "1", MetricKind.GAUGE, "open"),
    "a unit of UCUM": ("memory", "By", MetricKind.GAUGE, "memory_bytes"),
    "a counter": ("rooms.opened", "", MetricKind.COUNTER, "rooms_opened_total"),
    "a counter once": ("rooms_total", "", MetricKind.COUNTER, "rooms_total"),
    "runs and digits": ("9a--b__c:d", "", MetricKind.GAUGE, "_a_b_c:d"),
}


@pytest.mark.parametrize(("name", "unit", "kind", "series"), NAMES.values(), ids=NAMES)
def test_a_metric_is_exported_as(name: str, unit: str, kind: MetricKind, series: str) -> None:
    assert metric_name(name, unit=unit, kind=kind) == series


def test_a_label_has_no_colon() -> None:
    assert label_name("a:b.c") == "a_b_c"
