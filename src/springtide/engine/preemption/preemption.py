"""DefaultPreemption: whether evicting pods of lower priority would make room, where, and whose.

Only nodes whose refusal evictions could change are tried, from an offset on, which kube-scheduler
draws, and only until there are enough candidates. Nothing is evicted here, and the overlay is as it
was afterwards. Extenders with a verb for preemption have no part in it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from springtide.engine.framework.fit_error import fit_error
from springtide.engine.framework.framework import PASSES
from springtide.engine.framework.nominated import Judge
from springtide.engine.framework.rule import Rows
from springtide.engine.preemption.choice import best
from springtide.engine.preemption.residents import Residents
from springtide.engine.preemption.victims import Victims, find_victims
from springtide.model.columns import Bool
from springtide.model.disruption import DisruptionBudget
from springtide.model.plugin_arguments import DefaultPreemptionArgs
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

NAME: Final = "DefaultPreemption"
NEVER: Final = "not eligible due to preemptionPolicy=Never."
WAITS: Final = "not eligible due to a terminating pod on the nominated node."
NO_VICTIMS: Final = Refusal(
    rule=NAME, reasons=("No preemption victims found for incoming pod",), is_unresolvable=True
)
NO_HELP: Final = Refusal(
    rule=NAME, reasons=("Preemption is not helpful for scheduling",), is_unresolvable=True
)


class Evictable(msgspec.Struct, frozen=True, kw_only=True):
    """Who could go: the pods that are there, and the budgets that protect some of them."""

    residents: Residents
    budgets: tuple[DisruptionBudget, ...] = ()


class Preempted(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: the victims with their node, or None; a fault of the dry run is an error."""

    message: str
    victims: Victims | None = None
    is_error: bool = False


def preempt(
    pod: Pod,
    judge: Judge,
    *,
    promising: Rows,
    evictable: Evictable,
    offset: int = 0,
    below: int | None = None,
) -> Preempted:
    """Return what preemption says for a pod that fits nowhere.

    `promising` are the rows whose refusal evictions could change. Rows from `below` on are not
    there, if it is given.
    """
    ledger = judge.overlay.ledger
    if not pod.spec.may_preempt:
        return Preempted(message=f"preemption: {NEVER}")
    if _waits(pod, ledger.rows.get(pod.nominated_node), judge, evictable.residents):
        return Preempted(message=f"preemption: {WAITS}")
    trial = _Trial(pod, judge, evictable)
    enough = _enough(judge.framework.config.preemption, len(promising))
    trial.run(np.roll(promising, -offset), enough)
    if trial.candidates:
        return _found(best(trial.candidates), ledger.names)
    if trial.faults:
        return Preempted(message=f"preemption: {_joined(trial.faults)}", is_error=True)
    return Preempted(message=f"preemption: {trial.text(ledger.count if below is None else below)}")


def _enough(args: DefaultPreemptionArgs, nodes: int) -> int:
    """Return how many candidates are enough among so many nodes that are worth a trial."""
    part = nodes * (args.min_candidate_nodes_percentage or 0) // 100
    return min(nodes, max(part, args.min_candidate_nodes_absolute or 0))


def _waits(pod: Pod, nominated: int | None, judge: Judge, residents: Residents) -> bool:
    """Return whether the pod's nominated node is being cleared for it already."""
    if nominated is None:
        return False
    verdicts = judge.verdicts_now(np.array([nominated], np.intp))
    if verdicts.rule[0] != PASSES and verdicts.unresolvable[0]:
        return False
    return any(each.is_preempted for each in residents.below(pod.spec.priority, nominated))


class _Trial:
    """What the nodes said that were tried."""

    def __init__(self, pod: Pod, judge: Judge, evictable: Evictable) -> None:
        self.candidates: list[Victims] = []
        self.faults: list[str] = []
        self._refusals: Counter[Refusal] = Counter()
        self._priority = pod.spec.priority
        self._judge = judge
        self._evictable = evictable

    def run(self, rows: Rows, enough: int) -> None:
        """Try the rows in order, until there are enough candidates and one breaks no budget."""
        is_worth_it = self._evictable.residents.has_below(self._priority, rows)
        self._refusals[NO_VICTIMS] += int(np.count_nonzero(~is_worth_it))
        left = self._without_idle(rows[is_worth_it])
        while len(left) and not self._has(enough):
            count = max(1, enough - len(self.candidates)) if self._judge.is_by_row else 1
            self._try(left[:count].tolist())
            left = left[count:]

    def _has(self, enough: int) -> bool:
        is_enough = len(self.candidates) >= enough
        return is_enough and not all(each.broken for each in self.candidates)

    def _without_idle(self, rows: Rows) -> Rows:
        """Return the rows without those where evictions change nothing, because the pod fits.

        An extender has refused it there. Everybody would come back, so they are not tried.
        """
        if not self._judge.is_by_row:
            return rows
        is_idle: Bool = self._judge.verdicts_now(rows).rule == PASSES
        for row in rows[is_idle].tolist():
            self._fault(row)
        left: Rows = rows[~is_idle]
        return left

    def text(self, total: int) -> str:
        """Return the sentence about all nodes, of which this many are there."""
        untried = total - self._refusals.total()
        refusals = +(self._refusals + Counter({NO_HELP: untried}))
        return fit_error(total, refusals.items())

    def _try(self, rows: Sequence[int]) -> None:
        lower = [(row, self._evictable.residents.below(self._priority, row)) for row in rows]
        answers = find_victims(self._judge, lower, budgets=self._evictable.budgets)
        for row, answer in zip(rows, answers, strict=True):
            if isinstance(answer, Refusal):
                self._refusals[answer] += 1
            elif answer.pods:
                self.candidates.append(answer)
            else:
                self._fault(row)

    def _fault(self, row: int) -> None:
        name = self._judge.overlay.ledger.names[row]
        self.faults.append(f'expected at least one victim pod on node "{name}"')


def _found(chosen: Victims, names: Sequence[str]) -> Preempted:
    place, count = names[chosen.row], len(chosen.pods)
    message = f"found a potential placement for pod on node {place}, preempting {count} victims"
    return Preempted(message=f"preemption: {message}", victims=chosen)


def _joined(faults: Sequence[str]) -> str:
    return faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
