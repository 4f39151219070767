"""What the members of a workload may do in Kubernetes: label themselves, and keep what they share.

Nothing here changes a workload or its scale. Only the autoscaler changes replicas.
"""

from collections.abc import Sequence
from typing import Final

from springtide.apps.manifests.choices import Choices, Document
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.meeting import meeting
from springtide.model.replicas.settings import ReplicaSettings

_GROUP: Final = "rbac.authorization.k8s.io"
_PATCHED: Final = ("get", "list", "watch", "patch")
_REPLACED: Final = ("get", "list", "watch", "update")
_READ: Final = {
    "StatefulSet": ("statefulsets", "statefulsets/scale"),
    "Deployment": ("deployments/scale",),
}
"""Where ordinals start, and how many replicas there are."""


def account(choices: Choices) -> Document:
    """Return the account that the members run as."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": choices.service_account, "namespace": choices.namespace},
    }


def role(settings: ReplicaSettings, choices: Choices) -> Document:
    """Return what members may do."""
    workload, is_observing = settings.workload, settings.knobs.mode is Mode.OBSERVE
    names = meeting(workload.name, is_observing=is_observing)
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "Role",
        "metadata": _metadata(settings, choices),
        "rules": [
            # Every member sees the others, and writes the two labels of its own pod.
            _rule("", ["pods"], _PATCHED),
            _rule("", ["configmaps"], _PATCHED, names=[names.status, names.records, names.values]),
            _rule("coordination.k8s.io", ["leases"], _REPLACED, names=[names.lock]),
            # What is not there yet has no name to be allowed by.
            _rule("", ["configmaps"], ["create"]),
            _rule("coordination.k8s.io", ["leases"], ["create"]),
            *(
                _rule("apps", resources, ["get"], names=[workload.name])
                for kind, resources in _READ.items()
                if kind == workload.kind
            ),
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


def _rule(
    group: str, resources: Sequence[str], verbs: Sequence[str], *, names: Sequence[str] = ()
) -> Document:
    named = {"resourceNames": [*names]} if names else {}
    return {"apiGroups": [group], "resources": [*resources], **named, "verbs": [*verbs]}


def _metadata(settings: ReplicaSettings, choices: Choices) -> Document:
    return {"name": f"{settings.workload.name}-replicas", "namespace": choices.namespace}
