"""What verdicts of classes rest on: the ledger, the rules of each scheduler, families and policies."""

from collections.abc import Mapping

import msgspec

from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask, DeviceFamily
from springtide.engine.placement.policy import PolicyTable
from springtide.engine.placement.quota import bounded
from springtide.model.ledger import Ledger


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """A pod is judged by the framework of the scheduler that it names, or else by the first one.

    Strictly, the devices of all families count for a node's score, as they do in HAMi.
    """

    ledger: Ledger
    framework: Framework
    families: Mapping[str, DeviceFamily]
    by_scheduler: Mapping[str, Framework]
    policies: PolicyTable
    is_strict: bool = False

    def framework_of(self, pod_class: PodClass) -> Framework:
        """Return the framework that judges pods of this class."""
        if not self.by_scheduler:
            return self.framework
        return self.by_scheduler.get(pod_class.framework.spec.scheduler_name, self.framework)

    def asks_of(self, pod_class: PodClass) -> tuple[Ask, ...]:
        """Return the asks of the class, bounded by what the quota of its namespace leaves now."""
        if not pod_class.quota:
            return pod_class.asks
        quota, families = pod_class.quota, self.families
        return bounded(pod_class.asks, quota, ledger=self.ledger, families=families)
