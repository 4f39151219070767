"""A cluster whose namespaces have quotas of devices, asked through classes and tables."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from springtide.engine.placement.admission import admitted, denial
from springtide.engine.placement.choice import best_fit
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import holding
from springtide.engine.placement.tables import Tables
from springtide.model.device import Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.quotas import Quotas
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import Nvidia
from tests.builders import resources
from tests.estimates import tables_of

GPUMEM = "nvidia.com/gpumem"
GPUCORES = "nvidia.com/gpucores"
TEAM = "team-a"
ROOM = resources({"cpu": 64, "memory": "256Gi", "pods": 110})


class QuotaCluster:
    """Nodes, and limits of namespaces by resource."""

    def __init__(
        self, nodes: Sequence[Node], limits: Mapping[str, Mapping[str, int]] | None = None
    ) -> None:
        self.family = Nvidia()
        self.families = {self.family.name: self.family}
        self.ledger = Ledger()
        self.ledger.quotas = Quotas(limits or {})
        for node in nodes:
            found = self.family.inventory(node)
            assert isinstance(found, Inventory), found
            roomy = replace(node, allocatable=ROOM)
            self.ledger.add_node(roomy, {self.family.name: found})
        self.tables: Tables = tables_of(self.ledger)
        self.classifier = Classifier(self.families, quotas=self.ledger.quotas)

    def classified(self, wanted: Pod) -> PodClass:
        """Return the class of the pod, as it was admitted."""
        stored = admitted(wanted, self.families)
        assert not isinstance(stored, Refusal), stored.text
        return self.classifier.classify(stored)

    def denied(self, wanted: Pod) -> Refusal | None:
        """Return why admission would deny the pod, None if it would not."""
        stored = admitted(wanted, self.families)
        return (
            stored
            if isinstance(stored, Refusal)
            else denial(stored, self.families, quotas=self.ledger.quotas)
        )

    def place(self, wanted: Pod) -> str:
        """Place the pod on the best node and return its name, or the reasons of all nodes."""
        pod_class = self.classified(wanted)
        placement = best_fit(pod_class, self.tables)
        if placement is None:
            found = self.tables.histogram(pod_class, below=self.ledger.count)
            return "; ".join(refusal.text for refusal, _ in found)
        self.ledger.hold(holding(wanted.uid, pod_class, placement))
        self.ledger.check()
        return self.ledger.names[placement.row]

    def used(self, namespace: str = TEAM) -> dict[str, int]:
        """Return what a namespace uses, without what it uses nothing of."""
        return dict(self.ledger.quotas.counts().get(namespace, {}))
