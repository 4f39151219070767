"""What the pods of a workload need: who they are, a way to be told to stop, and time to hand over.

A strategic merge patch, for `kubectl patch --patch-file` and for kustomize. The two labels of a member are
its own to write, so neither the template nor the selector has them.
"""

from collections.abc import Iterator
from typing import Final

from springtide.apps.manifests.choices import Choices, Document
from springtide.apps.manifests.times import drain_s, grace_s
from springtide.model.replicas.settings import ReplicaSettings

INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"
POD_NAME: Final = "POD_NAME"
POD_NAMESPACE: Final = "POD_NAMESPACE"
POD_IP: Final = "POD_IP"
POD_INDEX: Final = "POD_INDEX"
ORDINALS_START: Final = "ORDINALS_START"
PRESTOP: Final = "/hpa/prestop"


def patch(settings: ReplicaSettings, choices: Choices) -> Document:
    """Return the patch of a workload."""
    workload = settings.workload
    hook = {"lifecycle": {"preStop": {"httpGet": _prestop(settings, choices)}}}
    container = {
        "name": choices.container,
        "env": list(environment(settings, choices)),
        # A hook can be of one kind only, and to replace another would take something away.
        **({} if choices.has_hook else hook),
    }
    return {
        "apiVersion": workload.api_version,
        "kind": workload.kind,
        "metadata": {"name": workload.name, "namespace": choices.namespace},
        "spec": {
            "template": {
                "spec": {
                    "serviceAccountName": choices.service_account,
                    "terminationGracePeriodSeconds": grace_s(settings, choices),
                    "containers": [container],
                }
            }
        },
    }


def environment(settings: ReplicaSettings, choices: Choices) -> Iterator[Document]:
    """Return the variables of a member; only the pods of a StatefulSet are counted."""
    yield _from_field(POD_NAME, "metadata.name")
    yield _from_field(POD_NAMESPACE, "metadata.namespace")
    yield _from_field(POD_IP, "status.podIP")
    if settings.workload.kind == "StatefulSet":
        yield _from_field(POD_INDEX, f"metadata.labels['{INDEX_LABEL}']")
        yield {"name": ORDINALS_START, "value": str(choices.ordinals_start or 0)}


def _from_field(name: str, path: str) -> Document:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _prestop(settings: ReplicaSettings, choices: Choices) -> Document:
    waits_s = max(drain_s(settings), grace_s(settings, choices) - choices.stop_s)
    return {"path": f"{PRESTOP}?timeout={waits_s}", "port": choices.prestop_port}
