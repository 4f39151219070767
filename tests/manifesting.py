"""Configurations, workloads and autoscalers for tests of the objects that are made for them."""

from typing import Any, Final

import msgspec

from springtide.apps.manifests import Choices, Finding, lint, settled, target_of
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire.crd.replicas import read_replicas
from springtide.wire.k8s.scaled import Placed, Scaled, read_scaled
from springtide.wire.k8s.scaled_schema import Workload
from springtide.wire.origin import Origin
from springtide.wire.source import Source

Json = dict[str, Any]

NAMESPACE: Final = "game"
ORIGIN: Final = Origin(source="replicas.yaml")
CHOSEN: Final = Choices(namespace=NAMESPACE, selector={"matchLabels": {"app": "chat"}})
HOOK: Final = {"httpGet": {"path": "/hpa/prestop?timeout=155", "port": "metrics"}}


def configuration(**fields: Any) -> Json:
    """Return a configuration that an autoscaler can be made of, with these fields in the place of its own."""
    return {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "ReplicasConfiguration",
        "workload": {"name": "chat"},
        "controller": {"enabled": True},
        "replicas": {"min": 2, "max": 40},
        "schedule": {"startDelay": "60s", "period": "65s", "scalingDelay": "60s"},
        "metrics": {"enabled": True, "pullInterval": "20s", "pullRetryInterval": "5s"},
        **fields,
    }


def settings(**fields: Any) -> ReplicaSettings:
    """Return the settings of such a configuration."""
    return read_replicas(configuration(**fields), origin=ORIGIN)


def chosen(choices: Choices = CHOSEN, **fields: Any) -> Choices:
    """Return settled choices, with these fields in the place of their own."""
    return settled(msgspec.structs.replace(choices, **fields), settings(), None)


def container(**fields: Any) -> Json:
    """Return the container of a member that nothing is wrong with."""
    return {
        "name": "chat",
        "image": "registry.invalid/chat:1",
        "ports": [{"name": "metrics", "containerPort": 9100}],
        "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "lifecycle": {"preStop": HOOK},
        **fields,
    }


def workload(
    kind: str = "StatefulSet", *, pod: Json | None = None, labels: Json | None = None, **spec: Any
) -> Json:
    """Return a workload that nothing is wrong with, with these parts in the place of its own."""
    own = {"serviceName": "chat", "podManagementPolicy": "Parallel"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "chat", "namespace": NAMESPACE},
        "spec": {
            **(own if kind == "StatefulSet" else {}),
            "selector": {"matchLabels": {"app": "chat"}},
            "template": {
                "metadata": {"labels": {"app": "chat", **(labels or {})}},
                "spec": {
                    "serviceAccountName": "chat",
                    "terminationGracePeriodSeconds": 185,
                    "containers": [container()],
                    **(pod or {}),
                },
            },
            **spec,
        },
    }


def metric(name: str, *, target: Json | None = None, labels: Json | None = None) -> Json:
    """Return a metric of an autoscaler."""
    return {
        "type": "External",
        "external": {
            "metric": {
                "name": name,
                "selector": {"matchLabels": labels or {"hpa_target_name": "chat"}},
            },
            "target": target or {"type": "AverageValue", "averageValue": "1"},
        },
    }


def scaler(name: str = "chat", *, of: str = "chat", **spec: Any) -> Json:
    """Return an autoscaler that nothing is wrong with, with these parts in the place of its own."""
    rules = {"tolerance": "0", "selectPolicy": "Disabled"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": of},
            "minReplicas": 2,
            "maxReplicas": 40,
            "metrics": [metric("hpa_expect_replicas"), metric("hpa_stateful_index")],
            "behavior": {"scaleUp": rules, "scaleDown": rules},
            **spec,
        },
    }


def read(*objects: Json) -> Scaled:
    """Return objects as they are read from a file."""
    data = b"---\n".join(msgspec.json.encode(each) + b"\n" for each in objects)
    return read_scaled([Source("installed.yaml", data)])


def found(
    *objects: Json, choices: Choices | None = None, **fields: Any
) -> tuple[tuple[Finding, ...], Choices]:
    """Return what is wrong with objects, and the choices by which they were judged."""
    known, scaled = settings(**fields), read(*objects)
    target: Placed[Workload] | None = None
    given = choices or (Choices() if scaled.workloads else CHOSEN)
    if scaled.workloads:
        target = target_of(scaled, known, given.namespace)
    whole = settled(given, known, target)
    return lint(scaled, known, whole, target=target, origin=ORIGIN), whole


def rules(*objects: Json, choices: Choices | None = None, **fields: Any) -> list[str]:
    """Return the rules and places of what is wrong."""
    findings, _ = found(*objects, choices=choices, **fields)
    return [f"{each.rule} {each.where}" for each in findings]
