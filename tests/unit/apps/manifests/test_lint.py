"""Lint of what is installed: each rule with its place, and what mends it."""

from typing import Any

import pytest

from springtide.apps.manifests import Choices, Printed, ScaleDown, target_of
from springtide.apps.manifests.finding import Rule
from springtide.apps.manifests.lint import NotThere
from springtide.wire.k8s.scaled import read_scaled
from springtide.wire.source import Source
from tests.linting import CPU, EXACT, FIRST, POD, SCALERS, WORKLOADS, E, S, pod_of
from tests.manifesting import (
    Json,
    chosen,
    container,
    found,
    metric,
    read,
    rules,
    scaler,
    settings,
    workload,
)


@pytest.mark.parametrize(("object_", "expected"), WORKLOADS.values(), ids=WORKLOADS)
def test_a_workload_is_held_against_what_its_members_need(
    object_: Json, expected: list[str]
) -> None:
    assert rules(object_) == expected


def test_k_7_a_grace_that_is_too_short_is_a_fault() -> None:
    schedule = {"startDelay": "60s", "period": "60s", "scalingDelay": "60s"}

    ((finding,), _) = found(workload(pod={"terminationGracePeriodSeconds": 60}), schedule=schedule)

    assert (finding.rule, finding.where) == (Rule.GRACE, f"{POD}.terminationGracePeriodSeconds")
    assert finding.is_fault
    assert "write 180 or more" in str(finding)
    assert str(finding).endswith("(grace)")


def test_a_grace_that_nobody_writes_is_that_of_kubernetes() -> None:
    bare = workload()
    del bare["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]

    assert rules(bare) == [f"grace {POD}.terminationGracePeriodSeconds"]


def test_members_that_are_told_where_counting_begins_are_right() -> None:
    """Covers R-37 in part."""
    env = [*container()["env"], {"name": "ORDINALS_START", "value": "5"}]
    told = pod_of(env=env)
    told["spec"]["ordinals"] = {"start": 5}

    assert rules(told) == []
    assert rules(told, choices=Choices(ordinals_start=3)) == [
        f"ordinals {FIRST}.env",
        "ordinals spec.ordinals.start",
    ]


@pytest.mark.parametrize("strategy", [{"type": "OnDelete"}, {"rollingUpdate": {"partition": 4}}])
def test_an_update_that_waits_for_people_needs_no_hook(strategy: Json) -> None:
    bare = pod_of(lifecycle={})
    bare["spec"]["updateStrategy"] = strategy

    assert rules(bare) == [f"preStop {FIRST}.lifecycle.preStop"]


def test_a_workload_elsewhere_is_another_one() -> None:
    scaled = read(workload())

    with pytest.raises(
        NotThere, match="holds no StatefulSet lobby/chat, but StatefulSet game/chat"
    ):
        target_of(scaled, settings(), "lobby")
    with pytest.raises(NotThere, match="holds no Deployment chat"):
        target_of(scaled, settings(workload={"name": "chat", "kind": "Deployment"}), "")
    with pytest.raises(NotThere, match="no workload at all"):
        target_of(read(scaler()), settings(), "")


def test_a_container_that_is_not_there_is_told_with_those_that_are() -> None:
    ((finding,), _) = found(workload(), choices=Choices(container="main"))

    assert finding.rule is Rule.CONTAINER
    assert 'none is called "main", which --container names; there are chat.' in finding.reason


def test_a_deployment_has_no_order_of_its_own() -> None:
    fields: dict[str, Any] = {
        "workload": {"name": "chat", "kind": "Deployment"},
        "deployment": {"coordination": True},
    }

    assert rules(workload("Deployment"), **fields) == []


@pytest.mark.parametrize(("objects", "expected"), SCALERS.values(), ids=SCALERS)
def test_an_autoscaler_is_held_against_what_makes_it_exact(
    objects: list[Json], expected: list[str]
) -> None:
    """Covers R-40 in part."""
    assert rules(*objects) == expected


def test_f_26_a_selector_without_its_workload_is_a_fault() -> None:
    ((finding,), _) = found(scaler(metrics=[metric(E, labels={"app": "x"}), metric(S)]))

    assert finding.is_fault
    assert "the replicas of other workloads count" in finding.reason


def test_h_12_a_limit_is_not_lowered_by_who_does_not_know_what_holds_state() -> None:
    """Covers R-57 in part."""
    installed = scaler(maxReplicas=12)
    low: dict[str, Any] = {"replicas": {"min": 2, "max": 8}}

    assert rules(installed, **low) == ["max spec.maxReplicas"]
    assert rules(installed, choices=chosen(floor=8), **low) == []


def test_h_12_a_limit_below_what_holds_state_is_told() -> None:
    findings, _ = found(scaler(maxReplicas=12), choices=chosen(floor=13))

    assert [each.rule for each in findings] == [Rule.MAX, Rule.MAX]
    assert "write 13 or more" in findings[1].reason


def test_an_open_autoscaler_stays_so_if_it_is_allowed() -> None:
    opened = scaler(behavior={"scaleUp": EXACT, "scaleDown": {"tolerance": "0"}})

    assert rules(opened, choices=chosen(scale_down=ScaleDown(is_allowed=True))) == []


def test_an_older_server_has_no_tolerance_to_look_at() -> None:
    assert rules(scaler(behavior={}), choices=chosen(kubernetes=(1, 32))) == [
        "closed spec.behavior.scaleDown.selectPolicy"
    ]


def test_a_gate_and_a_mode_are_told() -> None:
    assert rules(choices=chosen(kubernetes=(1, 33)), mode="observe") == ["observe mode", "gate "]


def test_a_hook_that_reaches_nobody_is_told() -> None:
    assert rules(choices=chosen(reaches=False)) == ["reach process.prestopOnMetrics"]


def test_what_is_about_to_be_mended_stops_nobody() -> None:
    findings, _ = found(
        workload(pod={"terminationGracePeriodSeconds": 1}), scaler(metrics=[metric(E), CPU])
    )
    grace, *others = findings

    assert (grace.stops(Printed.OBJECTS), grace.stops(Printed.PATCH)) == (True, False)
    assert others
    for each in others:
        assert (each.stops(Printed.OBJECTS), each.stops(Printed.PATCH)) == (False, True)
        assert each.stops(Printed.NOTHING)


def test_a_warning_stops_nobody_ever() -> None:
    ((finding,), _) = found(pod_of(env=[]))

    assert not any(finding.stops(each) for each in Printed)


def test_objects_are_read_from_lists_and_documents_with_their_lines() -> None:
    text = b"""kind: ConfigMap
---
apiVersion: apps/v1
kind: StatefulSetList
items:
  - metadata: {name: chat, namespace: game}
    spec:
      replicas: null
      template: {spec: {containers: [{name: chat}]}}
---
{"kind": "List", "items": [{"kind": "HorizontalPodAutoscaler", "metadata": {"name": "chat"}}]}
"""

    scaled = read_scaled([Source("all.yaml", text)])

    assert [each.value.kind for each in scaled.workloads] == ["StatefulSet"]
    assert scaled.workloads[0].value.spec.replicas is None
    assert [each.value.metadata.name for each in scaled.autoscalers] == ["chat"]
    told = str(scaled.workloads[0].origin.fault(("spec", "template"), "x"))
    assert told == "all.yaml, line 9: spec.template: x"


def test_every_rule_is_found_by_some_test() -> None:
    """The tables above have them all but those that the last tests name."""
    tabled = {
        each.split()[0]
        for _, expected in (*WORKLOADS.values(), *SCALERS.values())
        for each in expected
    }

    others = {Rule.GRACE, Rule.CONTAINER, Rule.OBSERVE, Rule.GATE, Rule.REACH}
    assert {Rule(each) for each in tabled} | others == set(Rule)
