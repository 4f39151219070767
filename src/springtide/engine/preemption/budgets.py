"""Which pods cannot go without breaking a PodDisruptionBudget, if they go in this order.

A budget without a selector is about nobody; kube-scheduler takes an empty selector for that too, and
a pod without labels for one that no budget is about.
"""

from collections.abc import Iterable, Sequence

from springtide.base.selectors import MalformedSelector, Selector, compile_selector
from springtide.model.disruption import DisruptionBudget
from springtide.model.pod import Pod


def parted(pods: Iterable[Pod], budgets: Sequence[DisruptionBudget]) -> tuple[list[Pod], list[Pod]]:
    """Return the pods that break a budget and the others, both in the given order."""
    purses = [_Purse(each) for each in budgets]
    breaking: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        # Every budget is charged, also behind one that is broken.
        is_broken = [purse.breaks(pod) for purse in purses]
        (breaking if any(is_broken) else others).append(pod)
    return breaking, others


class _Purse:
    """What is left of one budget."""

    def __init__(self, budget: DisruptionBudget) -> None:
        self._budget = budget
        self._left = budget.allowed
        self._selector = _selector(budget)

    def breaks(self, pod: Pod) -> bool:
        """Charge the pod, if the budget is about it, and return whether that is too much."""
        budget, selector = self._budget, self._selector
        if selector is None or pod.namespace != budget.namespace or not pod.labels:
            return False
        if pod.name in budget.going or not selector.matches(pod.labels):
            return False
        self._left -= 1
        return self._left < 0


def _selector(budget: DisruptionBudget) -> Selector | None:
    try:
        selector = compile_selector(budget.selector)
    except MalformedSelector:
        return None
    return None if selector.is_empty else selector
