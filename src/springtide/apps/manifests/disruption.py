"""The PodDisruptionBudget: one member at a time leaves where nodes are drained.

It does not keep an autoscaler from deleting pods; the index of who holds state does.
"""

from springtide.apps.manifests.choices import Choices, Document
from springtide.model.replicas.settings import ReplicaSettings


def budget(settings: ReplicaSettings, choices: Choices) -> Document:
    """Return the budget of a workload."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": settings.workload.name, "namespace": choices.namespace},
        "spec": {"maxUnavailable": 1, "selector": dict(choices.selector)},
    }
