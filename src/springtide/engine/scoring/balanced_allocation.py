"""NodeResourcesBalancedAllocation: resources of a node are used alike, or at least more alike.

A node is judged by what the pod changes: how far apart the used parts of its resources are with the
pod, against how far apart they are without it. What is not stated does not count here.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from springtide.engine.framework.requests import pod_requests
from springtide.engine.framework.rule import Selection
from springtide.engine.scoring.amounts import Amount, or_one, real_amounts
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.scorer import SCORE_MAX, UNSCORED, Answer, as_is
from springtide.model.columns import Bool, Float64, Int64
from springtide.model.ledger import Ledger
from springtide.model.plugin_arguments import ResourceSpec

HALF: Final = SCORE_MAX // 2
PAIR: Final = 2


class BalancedAllocation:
    """The NodeResourcesBalancedAllocation plugin of kube-scheduler since 1.36."""

    name = "NodeResourcesBalancedAllocation"

    def __init__(self, resources: tuple[ResourceSpec, ...]) -> None:
        self._resources = resources

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Compare how even the use is with the pod and without it."""
        asked = pod_requests(ask.framework.spec)
        if not any(asked.get(each.name) for each in self._resources):
            return UNSCORED
        amounts = list(real_amounts(self._resources, asked, ledger, selected))
        rows = len(selected.rows)
        after = _evenness([each.used + each.asked for each in amounts], amounts, rows)
        before = _evenness([each.used for each in amounts], amounts, rows)
        return as_is(HALF + (HALF + after - before) // 2)


def _evenness(used: Sequence[Int64], amounts: Sequence[Amount], rows: int) -> Int64:
    """Return 100 where all used parts are equal, less by their standard deviation."""
    parts = _Parts(rows)
    for each, amount in zip(used, amounts, strict=True):
        parts.add(each, amount.there)
    return ((1 - parts.deviation()) * SCORE_MAX).astype(np.int64)


class _Parts:
    """The used parts of the resources of each row, of those that it has at all."""

    def __init__(self, rows: int) -> None:
        self._parts: list[Float64] = []
        self._counted: list[Bool] = []
        self._number: Int64 = np.zeros(rows, np.int64)
        self._total: Float64 = np.zeros(rows)

    def add(self, used: Int64, there: Int64) -> None:
        """Take in one resource."""
        counted = there != 0
        part = np.where(counted, np.minimum(used / or_one(there), 1.0), 0.0)
        self._parts.append(part)
        self._counted.append(counted)
        self._number += counted
        self._total += part

    def deviation(self) -> Float64:
        """Return the standard deviation of each row's parts."""
        if not self._parts:
            return self._total
        # Of two parts it is half their difference, which is not rounded as often.
        of_two = np.where(self._number == PAIR, self._apart() / PAIR, 0.0)
        if len(self._parts) <= PAIR:
            return of_two
        return np.where(self._number > PAIR, self._of_many(), of_two)

    def _of_many(self) -> Float64:
        number = or_one(self._number)
        mean = self._total / number
        squares = np.zeros_like(mean)
        for part, counted in zip(self._parts, self._counted, strict=True):
            squares += np.where(counted, (part - mean) * (part - mean), 0.0)
        return np.sqrt(squares / number)

    def _apart(self) -> Float64:
        if len(self._parts) == PAIR:
            return np.abs(self._parts[0] - self._parts[1])
        highest = np.maximum.reduce(self._parts)
        parts = zip(self._parts, self._counted, strict=True)
        lowest = np.minimum.reduce([np.where(counted, part, 1.0) for part, counted in parts])
        apart: Float64 = highest - lowest
        return apart
