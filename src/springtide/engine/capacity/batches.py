"""Batches: pending pods that are equal in everything a rule reads.

What Cluster Autoscaler calls pod equivalence groups, but by class instead of by controller, and
including the annotations that device families read, so that one answer holds for the whole batch.
"""

from collections.abc import Iterable, Sequence

import msgspec

from springtide.base.names import CPU, MEMORY
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.model.pod import Pod
from springtide.model.resources import Amounts


class Batch(msgspec.Struct, frozen=True):
    """Equal pods, in input order."""

    pod_class: PodClass
    pods: tuple[Pod, ...]

    @property
    def first(self) -> Pod:
        """Return the pod that stands for all."""
        return self.pods[0]


def batches(pods: Iterable[Pod], classifier: Classifier) -> list[Batch]:
    """Return the batches of these pods, ordered by their first pod."""
    found: dict[PodClass, list[Pod]] = {}
    for pod in pods:
        found.setdefault(classifier.classify(pod), []).append(pod)
    return [Batch(pod_class, tuple(members)) for pod_class, members in found.items()]


def by_size(items: Sequence[Batch], allocatable: Amounts) -> list[Batch]:
    """Return the batches by how much of a node one pod takes, largest first, ties as given."""

    def share(batch: Batch) -> float:
        wanted = dict(batch.pod_class.amounts)
        return sum(
            wanted.get(name, 0) / allocatable[name]
            for name in (CPU, MEMORY)
            if allocatable.get(name, 0) > 0
        )

    return sorted(items, key=share, reverse=True)
