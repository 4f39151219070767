"""Classes of pods by what they ask of devices, whatever else they ask, so that there are few tables.

For those who decide about devices alone: the live scheduler and simulations, whose callers have applied
kube-scheduler's filters.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.family import DeviceFamily
from springtide.model.ledger import Ledger
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.resources import Resources

SPECS_MAX: Final = 16_384
CLASSIFIED_MAX: Final = 100_000
"""Classes are looked up anew after so many pods, so that those of long ago do not stay for ever."""


class Classes:
    """The classes of pods by what they ask of devices."""

    def __init__(self, families: Mapping[str, DeviceFamily], ledger: Ledger) -> None:
        self._families = families
        self._ledger = ledger
        self._names = frozenset(
            name for family in families.values() for name in family.resource_names()
        )
        self._bare: dict[PodSpec, PodSpec] = {}
        self._count = 0
        self._classifier = Classifier(families, quotas=ledger.quotas)

    def of(self, pod: Pod) -> PodClass:
        """Return the class of a pod."""
        if self._count >= CLASSIFIED_MAX:
            self.renew()
        self._count += 1
        return self._classifier.found(replace(pod, spec=self._bare_of(pod.spec), node_name=""))

    def renew(self) -> None:
        """Forget all classes, as is needed where namespaces have other limits."""
        self._count = 0
        self._classifier = Classifier(self._families, quotas=self._ledger.quotas)

    def _bare_of(self, spec: PodSpec) -> PodSpec:
        """Return what a spec says of devices."""
        bare = self._bare.get(spec)
        if bare is None:
            if len(self._bare) >= SPECS_MAX:
                self._bare.clear()
            bare = self._bare[spec] = PodSpec(
                containers=tuple(map(self._bare_container, spec.containers)),
                init_containers=tuple(map(self._bare_container, spec.init_containers)),
            )
        return bare

    def _bare_container(self, container: Container) -> Container:
        return Container(
            name="",
            requests=self._managed(container.requests),
            limits=self._managed(container.limits),
            is_sidecar=container.is_sidecar,
        )

    def _managed(self, resources: Resources) -> Resources:
        return tuple(pair for pair in resources if pair[0] in self._names)
