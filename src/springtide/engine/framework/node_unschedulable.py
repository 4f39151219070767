"""NodeUnschedulable: a cordoned node takes only pods that tolerate being there."""

from typing import Final

from springtide.base.taints import NO_SCHEDULE, Taint, tolerates
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.rule import Outcome, Prepared, Reads, Ready, Selection
from springtide.model.ledger import Ledger

UNSCHEDULABLE: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)


class NodeUnschedulable:
    """The NodeUnschedulable plugin of kube-scheduler."""

    name = "NodeUnschedulable"
    reads = Reads.NODE

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Note whether the pod tolerates the taint that stands for a cordon."""
        tolerations = ask.spec.tolerations
        return Ready(_Cordons(any(tolerates(each, UNSCHEDULABLE) for each in tolerations)))


class _Cordons:
    def __init__(self, is_tolerated: bool) -> None:  # noqa: FBT001 - its only argument
        self._is_tolerated = is_tolerated

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        if self._is_tolerated:
            return None
        refused = ledger.unschedulable[selected.cells]
        return Outcome(refused=refused, unresolvable=refused)

    def reasons(self, detail: int) -> tuple[str, ...]:
        assert detail
        return ("node(s) were unschedulable",)
