"""GpuClustering: pods of one kind together, by how many GPUs they ask for."""

from collections.abc import Sequence
from typing import Final

from springtide.engine.trace.policy import Scores
from springtide.engine.trace.shape import Shape
from springtide.policies.published.scoring import GPUS_MILLI_MAX, HighestScore

ONLY_ITS_KIND: Final = 75
ITS_KIND_AND_OTHERS: Final = 50
NO_PODS: Final = 25
USED_MOST: Final = 25


class GpuClustering(HighestScore):
    """Pods without a GPU score nodes alike, and are of no kind."""

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Score by which kinds a node has, and a little by how full it is."""
        state, kind = self.state, shape.kind
        for row in rows:
            if not shape.gpus:
                scores[row] = 0
                continue
            used = USED_MOST * (GPUS_MILLI_MAX - state.total_free[row]) // GPUS_MILLI_MAX
            scores[row] = used + _company(kind, state.kinds[row])


def _company(kind: str, kinds: frozenset[str]) -> int:
    if not kinds:
        return NO_PODS
    if kind not in kinds:
        return 0
    return ONLY_ITS_KIND if len(kinds) == 1 else ITS_KIND_AND_OTHERS
