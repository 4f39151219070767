"""The HorizontalPodAutoscaler that sets exactly the number that is wanted, or does nothing.

Both metrics are absolute numbers of replicas. An average of 1 leaves them as they are, because the
autoscaler divides by 1; a `Value` would be multiplied by the pods that are ready, and there is no way
to ask for one here. A tolerance of 0 lets every step count.
"""

from typing import Final

from springtide.apps.manifests.choices import Choices, Document
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire.crd.adapter import EXPECTED, INDEX

METRICS: Final = (EXPECTED.name, INDEX.name)
TARGET: Final = {"type": "AverageValue", "averageValue": "1"}
PERIOD_S: Final = 15
"""How often autoscalers look, unless the cluster says otherwise."""


def autoscaler(settings: ReplicaSettings, choices: Choices) -> Document:
    """Return the autoscaler of a workload."""
    workload = settings.workload
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": workload.name, "namespace": choices.namespace},
        "spec": {
            "scaleTargetRef": {
                "apiVersion": workload.api_version,
                "kind": workload.kind,
                "name": workload.name,
            },
            "minReplicas": settings.limits.least,
            "maxReplicas": settings.limits.most,
            "metrics": [_metric(each, settings) for each in METRICS],
            "behavior": {
                "scaleUp": _scale_up(settings, choices),
                "scaleDown": _scale_down(choices),
            },
        },
    }


def _metric(name: str, settings: ReplicaSettings) -> Document:
    # The version of the API is left out: no label may hold the slash in it.
    labels = {"hpa_target_kind": settings.workload.kind, "hpa_target_name": settings.workload.name}
    metric = {"name": name, "selector": {"matchLabels": labels}}
    return {"type": "External", "external": {"metric": metric, "target": dict(TARGET)}}


def _scale_up(settings: ReplicaSettings, choices: Choices) -> Document:
    policy = {"type": "Pods", "value": settings.limits.most, "periodSeconds": PERIOD_S}
    return {
        **_tolerance(choices),
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [policy],
    }


def _scale_down(choices: Choices) -> Document:
    chosen = choices.scale_down
    policy = {"type": "Pods", "value": chosen.pods, "periodSeconds": chosen.period_s}
    return {
        **_tolerance(choices),
        "stabilizationWindowSeconds": chosen.window_s,
        "selectPolicy": "Max" if chosen.is_allowed else "Disabled",
        "policies": [policy],
    }


def _tolerance(choices: Choices) -> Document:
    return {"tolerance": "0"} if choices.has_tolerance else {}
