"""Workloads and autoscalers that something is wrong with, and the rules and places of it."""

from typing import Any

from tests.manifesting import Json, container, metric, scaler, workload

POD = "spec.template.spec"
FIRST = f"{POD}.containers[0]"
E, S = "hpa_expect_replicas", "hpa_stateful_index"


def pod_of(**fields: Any) -> Json:
    """Return a workload whose member is like this."""
    return workload(pod={"containers": [container(**fields)]})


WORKLOADS: dict[str, tuple[Json, list[str]]] = {
    "nothing": (workload(), []),
    "a label of a member in the selector": (
        workload(selector={"matchLabels": {"app": "chat", "hpa_scaling_target": "1"}}),
        ['labels spec.selector.matchLabels["hpa_scaling_target"]'],
    ),
    "a label of a member in an expression": (
        workload(
            selector={
                "matchLabels": {"app": "chat"},
                "matchExpressions": [{"key": "hpa_scaling_ready", "operator": "Exists"}],
            }
        ),
        ["labels spec.selector.matchExpressions[0]"],
    ),
    "a label of a member in the template": (
        workload(labels={"hpa_scaling_ready": "0"}),
        ['labels spec.template.metadata.labels["hpa_scaling_ready"]'],
    ),
    "an account of all pods": (
        workload(pod={"serviceAccountName": "default"}),
        [f"account {POD}.serviceAccountName"],
    ),
    "no hook": (
        pod_of(lifecycle={}),
        [f"preStop {FIRST}.lifecycle.preStop", "update spec.updateStrategy"],
    ),
    "a hook that asks nobody": (
        pod_of(lifecycle={"preStop": {"exec": {"command": ["sleep", "5"]}}}),
        [f"preStop {FIRST}.lifecycle.preStop"],
    ),
    "no name": (pod_of(env=[]), [f"name {FIRST}.env"]),
    "no port": (pod_of(ports=[]), [f"port {POD}.containers"]),
    "an ordinal that nobody is told": (workload(ordinals={"start": 5}), [f"ordinals {FIRST}.env"]),
    "a number that is set": (workload(replicas=4), ["replicas spec.replicas"]),
    "no replicas": (workload(replicas=0), ["zero spec.replicas"]),
    "more replicas than the limit": (
        workload(replicas=41),
        ["max spec.replicas", "replicas spec.replicas"],
    ),
    "one after the other": (
        workload(podManagementPolicy="OrderedReady", minReadySeconds=30),
        ["order spec.podManagementPolicy", "order spec.minReadySeconds"],
    ),
    "volumes that go": (
        workload(persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete"}),
        ["volumes spec.persistentVolumeClaimRetentionPolicy.whenScaled"],
    ),
}


VALUE = {"type": "Value", "value": "1"}
SLASH = {"hpa_target_name": "chat", "hpa_target_api_version": "apps/v1"}
CPU = {"type": "Resource", "resource": {"name": "cpu"}}
BOTH = [metric(E), metric(S)]
EXACT = {"tolerance": "0", "selectPolicy": "Disabled"}

SCALERS: dict[str, tuple[list[Json], list[str]]] = {
    "nothing": ([scaler()], []),
    "one of another workload": ([scaler(), scaler("lobby", of="lobby", metrics=[CPU])], []),
    "two": ([scaler(), scaler("chat-cpu")], ["two metadata.name"]),
    "an older version": ([{**scaler(), "apiVersion": "autoscaling/v1"}], ["version apiVersion"]),
    "a foreign metric": ([scaler(metrics=[*BOTH, CPU])], ["foreign spec.metrics[2]"]),
    "a value": (
        [scaler(metrics=[metric(E, target=VALUE), metric(S)])],
        ["value spec.metrics[0].external.target.type"],
    ),
    "another average": (
        [scaler(metrics=[metric(E), metric(S, target={"type": "AverageValue", "averageValue": "2"})])],
        ["value spec.metrics[1].external.target.averageValue"],
    ),
    "no index": ([scaler(metrics=[metric(E)])], ["both spec.metrics"]),
    "a slash": (
        [scaler(metrics=[metric(E, labels=SLASH), metric(S)])],
        ['slash spec.metrics[0].external.metric.selector.matchLabels["hpa_target_api_version"]'],
    ),
    "no scope": (
        [scaler(metrics=[metric(E, labels={"app": "chat"}), metric(S)])],
        ['scope spec.metrics[0].external.metric.selector.matchLabels["hpa_target_name"]'],
    ),
    "the cluster's tolerance": (
        [scaler(behavior={"scaleUp": EXACT, "scaleDown": {"selectPolicy": "Disabled"}})],
        ["tolerance spec.behavior.scaleDown.tolerance"],
    ),
    "a tolerance": (
        [scaler(behavior={"scaleUp": {"tolerance": "50m"}, "scaleDown": EXACT})],
        ["tolerance spec.behavior.scaleUp.tolerance"],
    ),
    "a short window": (
        [scaler(behavior={"scaleUp": EXACT, "scaleDown": EXACT | {"stabilizationWindowSeconds": 0}})],
        ["window spec.behavior.scaleDown.stabilizationWindowSeconds"],
    ),
    "open": (
        [scaler(behavior={"scaleUp": EXACT, "scaleDown": {"tolerance": 0}})],
        ["closed spec.behavior.scaleDown.selectPolicy"],
    ),
    "zero": ([scaler(minReplicas=0)], ["zero spec.minReplicas"]),
    "a lower limit": ([scaler(maxReplicas=12)], ["max spec.maxReplicas"]),
}  # fmt: skip
