"""The objects of a workload: exact autoscalers, few rights, and labels by which the adapter finds samples."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.apps.manifests import Choices, Fallback, ScaleDown, compose, patch, settled
from springtide.apps.manifests.registration import registration
from springtide.model.replicas.rules import REPLICAS_MAX
from springtide.wire import yaml
from springtide.wire.crd.adapter import EXPECTED, INDEX
from tests.manifesting import CHOSEN, chosen, read, settings, workload

ROOT = Path(__file__).parents[4]
COORDINATED = {
    "workload": {"name": "chat", "kind": "Deployment"},
    "deployment": {"coordination": True},
}


def composed(choices: Choices = CHOSEN, **fields: Any) -> dict[str, Any]:
    """Return the objects by their kinds."""
    own = settings(**fields)
    return {each["kind"]: each for each in compose(own, settled(choices, own, None))}


def scaler(**fields: Any) -> Any:
    """Return what the autoscaler is to do."""
    return composed(chosen(**fields))["HorizontalPodAutoscaler"]["spec"]


@given(
    st.integers(1, REPLICAS_MAX),
    st.tuples(st.just(1), st.integers(0, 60)),
    st.booleans(),
    st.sampled_from(["StatefulSet", "Deployment"]),
)
def test_no_choice_makes_a_target_that_is_multiplied(
    most: int,
    kubernetes: tuple[int, int],
    is_allowed: bool,  # noqa: FBT001
    kind: str,
) -> None:
    """Covers R-40, R-39 in part."""
    choices = chosen(kubernetes=kubernetes, scale_down=ScaleDown(is_allowed=is_allowed))

    objects = composed(
        choices, replicas={"min": 1, "max": most}, workload={"name": "chat", "kind": kind}
    )

    metrics = objects["HorizontalPodAutoscaler"]["spec"]["metrics"]
    targets = [each["external"]["target"] for each in metrics]
    assert targets == [{"type": "AverageValue", "averageValue": "1"}] * 2
    assert [each["external"]["metric"]["name"] for each in metrics] == [EXPECTED.name, INDEX.name]


def test_both_metrics_name_the_workload_and_no_label_has_a_slash() -> None:
    """Covers R-41 in part."""
    selectors = [each["external"]["metric"]["selector"] for each in scaler()["metrics"]]

    labels = {"hpa_target_kind": "StatefulSet", "hpa_target_name": "chat"}
    assert selectors == [{"matchLabels": labels}] * 2


def test_all_replicas_may_come_in_one_step_and_bounds_are_those_of_the_configuration() -> None:
    found = scaler()

    assert (found["minReplicas"], found["maxReplicas"]) == (2, 40)
    assert found["behavior"]["scaleUp"] == {
        "tolerance": "0",
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 40, "periodSeconds": 15}],
    }


def test_nothing_shrinks_until_it_is_allowed() -> None:
    """Covers R-45 in part."""
    closed = scaler()["behavior"]["scaleDown"]
    opened = scaler(scale_down=ScaleDown(is_allowed=True, window_s=90, pods=2, period_s=20))

    assert closed["selectPolicy"] == "Disabled"
    assert opened["behavior"]["scaleDown"] == {
        "tolerance": "0",
        "stabilizationWindowSeconds": 90,
        "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 2, "periodSeconds": 20}],
    }


def test_older_servers_get_no_tolerance() -> None:
    found = scaler(kubernetes=(1, 32), fallback=Fallback.CLUSTER_FLAG)["behavior"]

    assert "tolerance" not in found["scaleUp"] | found["scaleDown"]


def test_where_an_executor_scales_there_is_no_autoscaler() -> None:
    objects = composed(chosen(kubernetes=(1, 30), fallback=Fallback.EXECUTOR))

    assert "HorizontalPodAutoscaler" not in objects


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_members_may_label_pods_and_keep_what_they_share_and_nothing_else(kind: str) -> None:
    """Covers R-2 in part."""
    rules = composed(workload={"name": "chat", "kind": kind})["Role"]["rules"]

    granted = {
        (group, resource, verb): each.get("resourceNames")
        for each in rules
        for group in each["apiGroups"]
        for resource in each["resources"]
        for verb in each["verbs"]
    }
    read = {key for key in granted if key[0] == "apps"}
    assert {resource for _, resource, _ in granted.keys() - read} == {
        "pods",
        "configmaps",
        "leases",
    }
    assert {verb for *_, verb in read} == {"get"}
    assert {verb for _, resource, verb in granted if resource == "pods"} == {
        "get", "list", "watch", "patch",
    }  # fmt: skip
    named = {key: names for key, names in granted.items() if key[1] != "pods"}
    assert all(names for key, names in named.items() if key[2] != "create")


def test_members_that_meet_elsewhere_need_no_rights() -> None:
    objects = composed(chosen(in_cluster=False))

    assert objects.keys().isdisjoint({"Role", "RoleBinding"})


def test_the_account_is_that_of_the_workload() -> None:
    own = settings()
    target = read(workload(pod={"serviceAccountName": "talker"})).workloads[0]

    objects = {each["kind"]: each for each in compose(own, settled(Choices(), own, target))}

    assert objects["ServiceAccount"]["metadata"] == {"name": "talker", "namespace": "game"}
    assert objects["RoleBinding"]["subjects"][0]["name"] == "talker"
    assert objects["RoleBinding"]["roleRef"]["name"] == objects["Role"]["metadata"]["name"]


def test_samples_carry_what_the_adapter_looks_for_and_no_member_can_say_otherwise() -> None:
    """Covers R-41 in part."""
    (endpoint,) = composed()["PodMonitor"]["spec"]["podMetricsEndpoints"]

    set_here = {each["targetLabel"] for each in endpoint["relabelings"]}
    asked = {INDEX.namespace_label, INDEX.member_label, *INDEX.required_selector, "hpa_target_kind"}
    assert asked <= set_here
    assert not endpoint["honorLabels"]


def test_pods_are_found_by_the_selector_of_the_workload() -> None:
    own = settings()
    selector = {
        "matchLabels": {"app": "chat"},
        "matchExpressions": [{"key": "tier", "operator": "Exists"}],
    }
    target = read(workload(selector=selector)).workloads[0]

    objects = {each["kind"]: each for each in compose(own, settled(Choices(), own, target))}

    assert objects["PodMonitor"]["spec"]["selector"] == selector
    assert objects["PodDisruptionBudget"]["spec"] == {"maxUnavailable": 1, "selector": selector}


def test_what_prometheus_picks_objects_by_is_on_them() -> None:
    objects = composed(chosen(monitor_labels={"release": "prometheus"}))

    for kind in ("PodMonitor", "PrometheusRule"):
        assert objects[kind]["metadata"]["labels"] == {"release": "prometheus"}


def test_the_registration_is_printed_with_its_authority_only() -> None:
    without, with_it = composed(), composed(chosen(ca_bundle=b"authority"))

    assert "APIService" not in without
    assert with_it["APIService"]["spec"]["caBundle"] == "YXV0aG9yaXR5"


def test_the_registration_in_deploy_is_this_one() -> None:
    """Covers R-3 in part."""
    path = ROOT / "deploy" / "replicas-adapter" / "apiservice.yaml"

    (document,) = yaml.documents(path.read_bytes(), str(path))

    assert document.value == registration(b"")


def test_kinds_can_be_left_out() -> None:
    kinds = [each["kind"] for each in compose(settings(), chosen(), without=["PodMonitor", "Role"])]

    assert kinds == [
        "ServiceAccount",
        "RoleBinding",
        "PodDisruptionBudget",
        "PrometheusRule",
        "HorizontalPodAutoscaler",
    ]


def test_members_learn_who_they_are_and_get_time_to_hand_over() -> None:
    """Covers R-37 in part."""
    found = patch(settings(), chosen(ordinals_start=5))["spec"]["template"]

    (container,) = found["spec"]["containers"]
    given_to = {each["name"]: each for each in container["env"]}
    label = "metadata.labels['apps.kubernetes.io/pod-index']"
    assert given_to["ORDINALS_START"]["value"] == "5"
    assert given_to["POD_INDEX"]["valueFrom"]["fieldRef"]["fieldPath"] == label
    assert container["lifecycle"]["preStop"]["httpGet"]["path"] == "/hpa/prestop?timeout=155"
    assert found["spec"]["terminationGracePeriodSeconds"] == (60 + 65) + (10 + 15 + 5) + 30
    assert "metadata" not in found


def test_a_grace_that_the_configuration_promises_is_given_whole() -> None:
    found = patch(settings(), chosen(grace_s_min=600))["spec"]["template"]["spec"]

    (container,) = found["containers"]
    assert found["terminationGracePeriodSeconds"] == 600
    assert container["lifecycle"]["preStop"]["httpGet"]["path"].endswith("timeout=570")


def test_members_of_a_deployment_are_not_counted() -> None:
    found = patch(settings(**COORDINATED), chosen())

    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert [each["name"] for each in container["env"]] == ["POD_NAME", "POD_NAMESPACE", "POD_IP"]


def test_a_hook_of_the_containers_own_stays() -> None:
    own = settings()
    containers = [{"name": "main", "lifecycle": {"preStop": {"exec": {"command": ["/bin/drain"]}}}}]
    target = read(workload(pod={"containers": containers})).workloads[0]

    found = patch(own, settled(Choices(), own, target))

    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert container["name"] == "main"
    assert "lifecycle" not in container


@pytest.mark.parametrize("kind", ["HorizontalPodAutoscaler", "PodDisruptionBudget"])
def test_what_people_look_for_is_called_like_the_workload(kind: str) -> None:
    assert composed()[kind]["metadata"] == {"name": "chat", "namespace": "game"}
