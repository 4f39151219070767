"""The documents of a workload of a chain: its configuration, itself, and how Prometheus finds its members."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from tests.e2e.beside import PORT
from tests.e2e.commands import Object

CALLS, PAGES = 9398, 9399
SCRAPE: Final = "1s"
UP, DOWN = 100, 80
"""What a member carries before there are more, and below which there are fewer."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Which workload it is; `start` is the first ordinal."""

    name: str
    kind: str = "StatefulSet"
    start: int = 0


def configuration(identity: Identity, prometheus: str) -> Object:
    """Return the configuration that all members share, in which a minute is two seconds."""
    return {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "ReplicasConfiguration",
        "workload": {"name": identity.name, "kind": identity.kind},
        "controller": {"enabled": True, "initWait": "1s"},
        "replicas": {"min": 1, "max": 8},
        "schedule": {"startDelay": "2s", "period": "2s", "scalingDelay": "4s"},
        "scaleUp": {"window": "1s"},
        "scaleDown": {"window": "3s"},
        "roundCancelAfter": "30s",
        "metrics": {
            "enabled": True,
            "pullInterval": "1s",
            "pullRetryInterval": "1s",
            "exportInterval": "1s",
            "scrapeInterval": SCRAPE,
        },
        "policies": {
            "custom": [
                {
                    "metric": "rooms",
                    "aggregation": {"operator": "sum"},
                    "thresholds": {"up": UP, "down": DOWN},
                }
            ]
        },
        **({"deployment": {"coordination": True}} if identity.kind == "Deployment" else {}),
        "store": {"kubernetes": {"selector": f"app={identity.name}", "port": PORT}},
        "prometheus": {"url": prometheus},
        "process": {"prestopOnMetrics": True},
    }


def placed(document: Object, address: str, kubeconfig: str) -> Object:
    """Return the configuration of one pod, which has no network of its own here."""
    beside = f"http://{address}:{PORT}"
    kubernetes = {**document["store"]["kubernetes"], "kubeconfig": kubeconfig}
    return {
        **document,
        "store": {"kubernetes": kubernetes},
        "application": {
            "ready": f"{beside}/ready",
            "stateful": f"{beside}/stateful",
            "events": f"{beside}/events",
        },
        "process": {
            **document["process"],
            "bindAddress": f"{address}:{CALLS}",
            "metricsBindAddress": f"{address}:{PAGES}",
        },
    }


def workload(identity: Identity, replicas: int) -> Object:
    """Return the workload as an operator has it before anything of ours."""
    labels = {"app": identity.name}
    container = {
        "name": "member",
        "image": "registry.invalid/member:1",
        "ports": [{"name": "metrics", "containerPort": PAGES}],
    }
    kinds: Object = {
        "StatefulSet": {"serviceName": identity.name, "podManagementPolicy": "Parallel"},
        "Deployment": {},
    }
    ordinals = {"ordinals": {"start": identity.start}} if identity.start else {}
    return {
        "apiVersion": "apps/v1",
        "kind": identity.kind,
        "metadata": {"name": identity.name, "namespace": "default", "labels": labels},
        "spec": {
            **kinds[identity.kind],
            **ordinals,
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container]},
            },
        },
    }


def targets(addresses: Mapping[str, str]) -> list[Object]:
    """Return what discovery of pods says of them to Prometheus."""
    return [
        {
            "targets": [f"{address}:{PAGES}"],
            "labels": {
                "__meta_kubernetes_namespace": "default",
                "__meta_kubernetes_pod_name": name,
                "application": f"{address}:{PORT}",
            },
        }
        for name, address in addresses.items()
    ]


def scrapes(identity: Identity, found: Object, files: Path) -> Sequence[Object]:
    """Return what an operator of Prometheus makes of a PodMonitor, and the like for applications."""
    (endpoint,) = found["spec"]["podMetricsEndpoints"]
    words = {"sourceLabels": "source_labels", "targetLabel": "target_label"}
    relabelled = [
        {words.get(key, key): value for key, value in each.items()}
        for each in endpoint["relabelings"]
    ]
    shared = {
        "scrape_interval": SCRAPE,
        "scrape_timeout": SCRAPE,
        "honor_labels": endpoint["honorLabels"],
        "metrics_path": endpoint["path"],
        "file_sd_configs": [{"files": [str(files)]}],
        "metric_relabel_configs": endpoint["metricRelabelings"],
    }
    beside = {"source_labels": ["application"], "target_label": "__address__"}
    gone = {"action": "labeldrop", "regex": "application"}
    return (
        {"job_name": identity.name, "relabel_configs": [*relabelled, gone], **shared},
        {"job_name": f"{identity.name}-app", "relabel_configs": [*relabelled, beside, gone], **shared},
    )  # fmt: skip
