"""NodeDeclaredFeatures: a pod that needs a kubelet to know something goes where it does."""

from typing import Final

import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.rule import SKIPPED, Outcome, Prepared, Reads, Ready, Selection
from springtide.model.ledger import Ledger

UNDECLARED: Final = "node(s) didn't match Pod's required features"


class NodeDeclaredFeatures:
    """The NodeDeclaredFeatures plugin of kube-scheduler."""

    name = "NodeDeclaredFeatures"
    reads = Reads.NODE

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Note what the pod requires of the kubelet, if anything."""
        required = frozenset(ask.spec.required_features)
        return Ready(_Required(required)) if required else SKIPPED


class _Required:
    def __init__(self, required: frozenset[str]) -> None:
        self._required = required

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        nodes = ledger.nodes
        lacking = [
            not self._required <= nodes[row].declared_features for row in selected.rows.tolist()
        ]
        refused = np.array(lacking, np.bool_)
        return Outcome(refused=refused, unresolvable=refused)

    def reasons(self, detail: int) -> tuple[str, ...]:
        assert detail
        return (UNDECLARED,)
