"""TaintToleration: every NoSchedule and NoExecute taint of a node must be tolerated."""

from collections.abc import Sequence
from itertools import chain

from springtide.base.taints import REPELLING_EFFECTS, Taint, Toleration, tolerates
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.distinct import DistinctVerdicts
from springtide.engine.framework.recent import Recent
from springtide.engine.framework.rule import Outcome, Prepared, Reads, Ready, Selection
from springtide.model.columns import Bool
from springtide.model.ledger import Ledger

Taints = tuple[Taint, ...]


class TaintToleration:
    """The TaintToleration plugin of kube-scheduler, without the gated numeric operators."""

    name = "TaintToleration"
    reads = Reads.NODE

    def __init__(self) -> None:
        self._recent: Recent[tuple[Toleration, ...], _Repelled] = Recent()

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Judge each distinct set of taints once."""
        return Ready(self._judged(ask, ledger))

    def repelled(self, ask: PodAsk, ledger: Ledger, selected: Selection) -> Bool:
        """Return which rows have a taint that keeps the pod away."""
        return self._judged(ask, ledger).evaluate(ledger, selected).refused

    def _judged(self, ask: PodAsk, ledger: Ledger) -> "_Repelled":
        tolerations, taintsets = ask.spec.tolerations, ledger.taintsets

        def make() -> _Repelled:
            return _Repelled(DistinctVerdicts(taintsets, _Tolerated(tolerations).repelled))

        return self._recent.get(taintsets, tolerations, make)


class _Repelled:
    def __init__(self, repelled: DistinctVerdicts[Taints]) -> None:
        self._repelled = repelled

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome:
        refused = self._repelled.of(ledger.taintset[selected.cells])
        return Outcome(refused=refused, unresolvable=refused)

    def reasons(self, detail: int) -> tuple[str, ...]:
        assert detail
        return ("node(s) had untolerated taint(s)",)


class _Tolerated:
    """A pod's tolerations by the key they are about; one without a key is about every taint."""

    def __init__(self, tolerations: Sequence[Toleration]) -> None:
        self._of_any_key = [each for each in tolerations if not each.key]
        self._by_key: dict[str, list[Toleration]] = {}
        for each in tolerations:
            if each.key:
                self._by_key.setdefault(each.key, list(self._of_any_key)).append(each)

    def repelled(self, sets: Sequence[Taints]) -> list[bool]:
        """Return for each set of taints whether one of them keeps the pod away."""
        keeps_away = {taint: self._keeps_away(taint) for taint in set(chain(*sets))}
        return [any(keeps_away[taint] for taint in taints) for taints in sets]

    def _keeps_away(self, taint: Taint) -> bool:
        if taint.effect not in REPELLING_EFFECTS:
            return False
        about = self._by_key.get(taint.key, self._of_any_key)
        return not any(tolerates(each, taint) for each in about)
