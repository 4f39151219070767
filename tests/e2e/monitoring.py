"""Kinds of prometheus-operator, which is not there: definitions that take any field."""

from typing import Final

from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MONITORING: Final = {"PodMonitor": "podmonitors", "PrometheusRule": "prometheusrules"}


def monitored(plane: ControlPlane) -> None:
    """Let an API server know the kinds of monitoring."""
    for kind, plural in MONITORING.items():
        plane.create(DEFINITIONS, definition(kind, plural))


def definition(kind: str, plural: str) -> Object:
    """Return the definition of a kind with any field."""
    group = "monitoring.coreos.com"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"kind": kind, "plural": plural, "singular": kind.lower()}
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
