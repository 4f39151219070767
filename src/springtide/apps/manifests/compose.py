"""All objects of a workload, in the order in which they are applied."""

from collections.abc import Container, Iterator
from typing import Final

from springtide.apps.manifests.autoscaler import autoscaler
from springtide.apps.manifests.choices import Choices, Document, Fallback
from springtide.apps.manifests.disruption import budget
from springtide.apps.manifests.monitor import monitor
from springtide.apps.manifests.registration import registration
from springtide.apps.manifests.rights import account, binding, role
from springtide.apps.manifests.rules import prometheus_rule
from springtide.model.replicas.settings import ReplicaSettings

KINDS: Final = (
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "PodDisruptionBudget",
    "PodMonitor",
    "PrometheusRule",
    "APIService",
    "HorizontalPodAutoscaler",
)


def compose(
    settings: ReplicaSettings, choices: Choices, *, without: Container[str] = ()
) -> tuple[Document, ...]:
    """Return the objects of a workload, the autoscaler last: it acts as soon as it is there."""
    return tuple(each for each in _all(settings, choices) if each["kind"] not in without)


def _all(settings: ReplicaSettings, choices: Choices) -> Iterator[Document]:
    yield account(choices)
    if choices.in_cluster:
        yield role(settings, choices)
        yield binding(settings, choices)
    yield budget(settings, choices)
    yield monitor(settings, choices)
    yield prometheus_rule(settings, choices)
    if choices.ca_bundle:
        yield registration(choices.ca_bundle)
    # Two that scale one workload would fight.
    if choices.fallback is not Fallback.EXECUTOR:
        yield autoscaler(settings, choices)
