"""The PodMonitor: how Prometheus finds the members, with the labels by which the adapter finds a workload.

Which workload a sample is of is said by where it was scraped, and never by the member itself: a pod that
calls itself by another name does not move somebody else's replicas.
"""

from typing import Final

from springtide.apps.manifests.choices import NAMESPACE_LABEL, Choices, Document
from springtide.model.replicas.settings import ReplicaSettings

INTERVAL_S: Final = 15
TIMEOUT_S: Final = 10
PATH: Final = "/metrics"
# A member says these too, and what it says would be kept under another name.
_SAID_TWICE: Final = "exported_(k8s_namespace_name|hpa_target_kind|hpa_target_name|instance|job)"


def monitor(settings: ReplicaSettings, choices: Choices) -> Document:
    """Return the monitor of a workload's pods."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {
            "name": f"{settings.workload.name}-replicas",
            "namespace": choices.namespace,
            **({"labels": dict(choices.monitor_labels)} if choices.monitor_labels else {}),
        },
        "spec": {
            "selector": dict(choices.selector),
            "podMetricsEndpoints": [_endpoint(settings, choices)],
        },
    }


def _endpoint(settings: ReplicaSettings, choices: Choices) -> Document:
    return {
        "port": choices.metrics_port,
        "path": PATH,
        "interval": f"{INTERVAL_S}s",
        "scrapeTimeout": f"{TIMEOUT_S}s",
        "honorLabels": False,
        "relabelings": [
            {"sourceLabels": ["__meta_kubernetes_namespace"], "targetLabel": NAMESPACE_LABEL},
            # A pod that comes again under its name takes the place of its former self.
            {"sourceLabels": ["__meta_kubernetes_pod_name"], "targetLabel": "instance"},
            {"targetLabel": "hpa_target_kind", "replacement": settings.workload.kind},
            {"targetLabel": "hpa_target_name", "replacement": settings.workload.name},
        ],
        "metricRelabelings": [{"action": "labeldrop", "regex": _SAID_TWICE}],
    }
