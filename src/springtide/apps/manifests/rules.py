"""Alerts as Prometheus reads them: as a file of rules, or as a PrometheusRule for its operator."""

from collections.abc import Iterable
from typing import Final

from springtide.apps.manifests.alerts import Alert, Scope, alerts, scope_of
from springtide.apps.manifests.choices import Choices, Document
from springtide.model.replicas.settings import ReplicaSettings

GROUP: Final = "springtide-replicas"


def rule_file(scope: Scope) -> Document:
    """Return the file of rules."""
    return {"groups": [_group(GROUP, alerts(scope))]}


def prometheus_rule(settings: ReplicaSettings, choices: Choices) -> Document:
    """Return the object of rules of one workload."""
    name = f"{settings.workload.name}-replicas"
    labels = {"labels": dict(choices.monitor_labels)} if choices.monitor_labels else {}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": name, "namespace": choices.namespace, **labels},
        "spec": {"groups": [_group(name, alerts(scope_of(settings, choices)))]},
    }


def _group(name: str, every: Iterable[Alert]) -> Document:
    return {"name": name, "rules": [_rule(each) for each in every]}


def _rule(alert: Alert) -> Document:
    return {
        "alert": alert.name,
        "expr": alert.expression,
        **({"for": _duration(alert.for_s)} if alert.for_s else {}),
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary, "description": alert.description},
    }


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{seconds}s" if rest else f"{minutes}m"
