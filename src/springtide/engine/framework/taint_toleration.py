"""TaintToleration: every NoSchedule and NoExecute taint of a node must be tolerated."""

from springtide.base.taints import Taint, first_untolerated
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.distinct import DistinctVerdicts
from springtide.engine.framework.rule import Outcome, Prepared, Reads, Ready, Rows
from springtide.model.ledger import Ledger


class TaintToleration:
    """The TaintToleration plugin of kube-scheduler, without the gated numeric operators."""

    name = "TaintToleration"
    reads = Reads.NODE

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Judge each distinct set of taints once."""
        tolerations = ask.spec.tolerations

        def repels(taints: tuple[Taint, ...]) -> bool:
            return first_untolerated(taints, tolerations) is not None

        return Ready(_Repelled(DistinctVerdicts(ledger.taintsets, repels)))


class _Repelled:
    def __init__(self, repels: DistinctVerdicts[tuple[Taint, ...]]) -> None:
        self._repels = repels

    def evaluate(self, ledger: Ledger, rows: Rows) -> Outcome | None:
        return Outcome(
            refused=self._repels.of(ledger.taintset[rows]),
            unresolvable=self._repels.of(ledger.taintset[rows]),
        )

    def reasons(self, detail: int) -> tuple[str, ...]:
        assert detail
        return ("node(s) had untolerated taint(s)",)
