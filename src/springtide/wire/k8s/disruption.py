"""PodDisruptionBudget objects (policy/v1), as far as whoever evicts pods reads them."""

from typing import Any

import msgspec

from springtide.model.disruption import DisruptionBudget
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.between import to_selector
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE
from springtide.wire.k8s.schema import LabelSelector, Metadata, Read


class BudgetSpec(Read, frozen=True):
    """Which pods a budget is about."""

    selector: LabelSelector | None = None


class BudgetStatus(Read, frozen=True):
    """How many of them may go, and which are going already."""

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, Any] = msgspec.field(default_factory=dict)


class PodDisruptionBudget(Read, frozen=True, tag="PodDisruptionBudget", tag_field="kind"):
    """A limit to how many pods are evicted at a time."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()


def to_budget(read: PodDisruptionBudget) -> DisruptionBudget:
    """Return the model record of a budget, or raise MalformedObject."""
    metadata = read.metadata
    if not metadata.name:
        raise MalformedObject("metadata.name", "the budget has no name; give it one.")
    return DisruptionBudget(
        namespace=metadata.namespace or DEFAULT_NAMESPACE,
        name=metadata.name,
        selector=to_selector(read.spec.selector),
        allowed=read.status.disruptions_allowed,
        going=frozenset(read.status.disrupted_pods),
    )
