"""First fit: the node of the lowest rank that takes the pod."""

from collections.abc import Sequence

from springtide.engine.trace.policy import Scores
from springtide.engine.trace.shape import Shape
from springtide.policies.published.scoring import HighestScore


class FirstFit(HighestScore):
    """All nodes are equal, so the first wins."""

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Score every node alike."""
        for row in rows:
            scores[row] = 0
