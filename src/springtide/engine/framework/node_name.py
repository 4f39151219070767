"""NodeName: a pod that names its node goes there or nowhere."""

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.rule import Outcome, Prepared, Reads, Ready, Selection
from springtide.model.columns import Bool
from springtide.model.ledger import Ledger

NOWHERE = -1


class NodeName:
    """The NodeName plugin of kube-scheduler."""

    name = "NodeName"
    reads = Reads.NODE

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Restrict the pod to the node that it names, if it names one."""
        nodes = frozenset({ask.node_name}) if ask.node_name else None
        return Ready(_Named(ask.node_name), nodes)


class _Named:
    def __init__(self, node_name: str) -> None:
        self._node_name = node_name

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        if not self._node_name:
            return None
        refused: Bool = selected.rows != ledger.rows.get(self._node_name, NOWHERE)
        return Outcome(refused=refused, unresolvable=refused)

    def reasons(self, detail: int) -> tuple[str, ...]:
        assert detail
        return ("node(s) didn't match the requested node name",)
