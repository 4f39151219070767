"""The alerts: all that are promised, by the names of the metrics that there are, in whole sentences."""

import re

import pytest

from springtide.apps.manifests.alerts import Alert, Scope, alerts, scope_of
from springtide.apps.manifests.choices import ScaleDown
from springtide.apps.manifests.rules import prometheus_rule, rule_file
from tests.manifesting import chosen, settings

KNOWN = {
    "hpa_clock_offset_seconds", "hpa_drain_overdue_seconds", "hpa_expect_replicas", "hpa_leader",
    "hpa_policy_valid", "hpa_stateful_index", "hpa_status_age_seconds", "up",
    "kube_horizontalpodautoscaler_spec_max_replicas", "kube_statefulset_replicas",
    "springtide_adapter_answers_total",
}  # fmt: skip
PROMISED = {
    "input unknown": "SpringtideReplicasInputUnknown",
    "status age": "SpringtideReplicasStatusOld",
    "no leader": "SpringtideReplicasNoLeader",
    "two leaders": "SpringtideReplicasTwoLeaders",
    "drain overdue": "SpringtideReplicasDrainOverdue",
    "index above the limit": "SpringtideReplicasIndexAboveLimit",
    "wanted replicas missing": "SpringtideReplicasNumberMissing",
    "index missing": "SpringtideReplicasIndexMissing",
    "clock": "SpringtideReplicasClockOff",
    "adapter": "SpringtideAdapterErrors",
    "not followed": "SpringtideReplicasNotFollowed",
}
METRIC = re.compile(r"\b(?:hpa|kube|springtide)_\w+(?=[{)\[ ])|\bup(?=[{)])")
LABELS = {"hpa_target_name", "hpa_target_kind"}
EVERY = alerts(Scope())
ONE = alerts(scope_of(settings(), chosen()))


def named(name: str, found: tuple[Alert, ...] = ONE) -> Alert:
    """Return the alert of this name."""
    return next(each for each in found if each.name == name)


@pytest.mark.parametrize("found", [EVERY, ONE], ids=["of all", "of one"])
def test_every_alert_that_is_promised_is_there(found: tuple[Alert, ...]) -> None:
    assert {each.name for each in found} == set(PROMISED.values())


@pytest.mark.parametrize("alert", [*EVERY, *ONE], ids=lambda each: each.name)
def test_an_alert_goes_by_metrics_that_there_are(alert: Alert) -> None:
    names = set(METRIC.findall(alert.expression)) - LABELS

    assert names
    assert names <= KNOWN


@pytest.mark.parametrize("alert", ONE, ids=lambda each: each.name)
def test_an_alert_says_what_is_and_what_to_do(alert: Alert) -> None:
    for text in (alert.summary, alert.description):
        assert text.endswith(".")
        assert text[0].isupper() or text.startswith("{{")
    assert re.search(r"\b(Look|Restart|Raise)\b", alert.description)


@pytest.mark.parametrize("alert", ONE, ids=lambda each: each.name)
def test_an_alert_of_one_workload_is_about_no_other(alert: Alert) -> None:
    if alert.name != "SpringtideAdapterErrors":
        selectors = re.findall(r"\{([^}]*)\}", alert.expression)
        assert selectors
        assert all('"game"' in each and '"chat"' in each for each in selectors)


def test_an_unknown_input_is_told_after_three_pulls() -> None:
    """Covers R-12 in part, R-46 in part."""
    assert named("SpringtideReplicasInputUnknown").for_s == 60
    assert named("SpringtideReplicasInputUnknown", EVERY).for_s == 540


def test_h_12_an_index_above_the_limit_is_told_by_whichever_limit_is_known() -> None:
    """Covers R-57 in part."""
    expression = named("SpringtideReplicasIndexAboveLimit").expression

    assert expression.endswith("* 0 + 40)")
    assert "kube_horizontalpodautoscaler_spec_max_replicas" in expression


def test_too_many_replicas_are_no_fault_before_they_may_shrink() -> None:
    opened = alerts(scope_of(settings(), chosen(scale_down=ScaleDown(is_allowed=True))))

    assert " > on " in named("SpringtideReplicasNotFollowed").expression
    assert " != on " in named("SpringtideReplicasNotFollowed", opened).expression


def test_a_deployment_is_looked_up_as_one() -> None:
    own = settings(
        workload={"name": "chat", "kind": "Deployment"}, deployment={"coordination": True}
    )

    expression = named("SpringtideReplicasNotFollowed", alerts(scope_of(own, chosen()))).expression

    assert 'kube_deployment_spec_replicas{namespace="game",deployment="chat"}' in expression


def test_rules_are_written_as_a_file_and_as_an_object() -> None:
    (group,) = rule_file(Scope())["groups"]
    (own,) = prometheus_rule(settings(), chosen())["spec"]["groups"]

    assert [each["alert"] for each in group["rules"]] == [each["alert"] for each in own["rules"]]
    assert {each.get("for") for each in own["rules"]} == {None, "1m", "5m", "15m"}
