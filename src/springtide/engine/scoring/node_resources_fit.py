"""NodeResourcesFit: how full a node would be with the pod on it, as the profile likes it.

The least full node is best, or the fullest, or what a line through given points says. Pods that
state no cpu or memory count as a little of it, on the node and as newcomers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from springtide.engine.framework.rule import Selection
from springtide.engine.framework.unstated import assumed_requests
from springtide.engine.scoring.amounts import Amount, assumed_amounts, or_one
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.line import Line, rounded
from springtide.engine.scoring.scorer import SCORE_MAX, Answer, as_is
from springtide.model.columns import Int64
from springtide.model.ledger import Ledger
from springtide.model.plugin_arguments import CapacityRatio, ScoringStrategy

LEAST_ALLOCATED: Final = "LeastAllocated"
MOST_ALLOCATED: Final = "MostAllocated"
RATIO: Final = "RequestedToCapacityRatio"

Judge: TypeAlias = Callable[[Sequence[Amount], int], Int64]
"""Resources and the number of rows to a score a row."""


class NodeResourcesFit:
    """The scores of the NodeResourcesFit plugin of kube-scheduler."""

    name = "NodeResourcesFit"

    def __init__(self, strategy: ScoringStrategy) -> None:
        self._resources = strategy.resources
        self._judge = _judge(strategy)

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Judge every resource that the profile names by what would be in use."""
        asked = assumed_requests(ask.framework.spec)
        amounts = list(assumed_amounts(self._resources, asked, ledger, selected))
        return as_is(self._judge(amounts, len(selected.rows)))


def _judge(strategy: ScoringStrategy) -> Judge:
    if strategy.type == RATIO:
        line = Line((strategy.requested_to_capacity_ratio or CapacityRatio()).shape)
        return lambda amounts, rows: _by_line(line, amounts, rows)
    of_each = _BY_TYPE[strategy.type]
    return lambda amounts, rows: _average(of_each, amounts, rows)


def _least(needed: Int64, there: Int64) -> Int64:
    return np.where(needed > there, 0, (there - needed) * SCORE_MAX // or_one(there))


def _most(needed: Int64, there: Int64) -> Int64:
    return np.minimum(needed, there) * SCORE_MAX // or_one(there)


_BY_TYPE: Final[Mapping[str, Callable[[Int64, Int64], Int64]]] = {
    LEAST_ALLOCATED: _least,
    MOST_ALLOCATED: _most,
}


def _average(
    of_each: Callable[[Int64, Int64], Int64], amounts: Sequence[Amount], rows: int
) -> Int64:
    """Return the weighed average over the resources that a row has at all."""
    sums: Int64 = np.zeros(rows, np.int64)
    weights: Int64 = np.zeros(rows, np.int64)
    for each in amounts:
        weight = np.where(each.there == 0, 0, each.weight)
        sums += weight * of_each(each.used + each.asked, each.there)
        weights += weight
    return sums // or_one(weights)


def _by_line(line: Line, amounts: Sequence[Amount], rows: int) -> Int64:
    """Return the weighed average over the resources that score anything on a row."""
    sums: Int64 = np.zeros(rows, np.int64)
    weights: Int64 = np.zeros(rows, np.int64)
    for each in amounts:
        scores = line.at(each.used + each.asked, each.there)
        weight = np.where((each.there == 0) | (scores == 0), 0, each.weight)
        sums += weight * scores
        weights += weight
    return rounded(sums / or_one(weights))
