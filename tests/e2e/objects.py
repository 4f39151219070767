"""Objects of the API as these tests create and read them."""

from typing import Any, Final

from tests.e2e.commands import Object
from tests.e2e.controlplane import ControlPlane

PODS: Final = "/api/v1/namespaces/default/pods"
NODES: Final = "/api/v1/nodes"


def a_pod(
    name: str,
    *,
    annotations: dict[str, str] | None = None,
    limits: tuple[dict[str, str], ...] = ({},),
    **spec: Any,
) -> Object:
    """Return a pod with a container for each of the limits; it asks for next to nothing else."""
    containers = [
        {
            "name": f"c{position}",
            "image": "registry.invalid/work:1",
            "resources": {"requests": {"cpu": "10m"}, "limits": each},
        }
        for position, each in enumerate(limits)
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"containers": containers, **spec},
    }


def phases(plane: ControlPlane) -> dict[str, str]:
    """Return the phase of each pod."""
    listed = plane.ask("GET", PODS)["items"]
    return {each["metadata"]["name"]: each["status"]["phase"] for each in listed}


def readiness(plane: ControlPlane) -> dict[str, str]:
    """Return what is said of each node: "True", "False" or "Unknown"."""
    listed = plane.ask("GET", NODES)["items"]
    return {
        each["metadata"]["name"]: condition["status"]
        for each in listed
        for condition in each["status"].get("conditions", [])
        if condition["type"] == "Ready"
    }


def annotations(plane: ControlPlane, path: str) -> dict[str, str]:
    """Return the annotations of an object."""
    found = plane.ask("GET", path)["metadata"].get("annotations", {})
    assert isinstance(found, dict)
    return found
