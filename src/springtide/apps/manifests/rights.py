"""What the members of a workload may do in Kubernetes: label themselves, and keep the status and its lock.

Nothing here reaches a workload or its scale. Only the autoscaler changes replicas.
"""

from typing import Final

from springtide.apps.manifests.choices import Choices, Document
from springtide.model.replicas.settings import ReplicaSettings

_GROUP: Final = "rbac.authorization.k8s.io"
_KEPT: Final = ("get", "list", "watch", "update", "patch")


def account(choices: Choices) -> Document:
    """Return the account that the members run as."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": choices.service_account, "namespace": choices.namespace},
    }


def role(settings: ReplicaSettings, choices: Choices) -> Document:
    """Return what members may do."""
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "Role",
        "metadata": _metadata(settings, choices),
        "rules": [
            # Every member sees the others, and writes the two labels of its own pod.
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "patch"]},
            *_kept("", "configmaps", settings.workload.status_name),
            *_kept("coordination.k8s.io", "leases", settings.workload.status_name),
        ],
    }


def binding(settings: ReplicaSettings, choices: Choices) -> Document:
    """Return who may do it."""
    metadata = _metadata(settings, choices)
    subject = {
        "kind": "ServiceAccount",
        "name": choices.service_account,
        "namespace": choices.namespace,
    }
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _GROUP, "kind": "Role", "name": metadata["name"]},
        "subjects": [subject],
    }


def _kept(group: str, resource: str, name: str) -> tuple[Document, Document]:
    """Return the rules for one object; what is not there yet has no name to be allowed by."""
    return (
        {
            "apiGroups": [group],
            "resources": [resource],
            "resourceNames": [name],
            "verbs": [*_KEPT],
        },
        {"apiGroups": [group], "resources": [resource], "verbs": ["create"]},
    )


def _metadata(settings: ReplicaSettings, choices: Choices) -> Document:
    return {"name": f"{settings.workload.name}-replicas", "namespace": choices.namespace}
