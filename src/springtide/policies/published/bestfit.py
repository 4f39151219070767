"""BestFit: the node on which the least CPU and GPU would be left."""

from collections.abc import Sequence

from springtide.engine.trace.policy import Scores
from springtide.engine.trace.shape import Shape
from springtide.policies.published.scoring import CPU_MILLI_MAX, GPUS_MILLI_MAX, HighestScore


class BestFit(HighestScore):
    """Scores are then stretched to 0..100 over the nodes that fit, which moves no maximum and no tie."""

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Score by what would be left, each as a share of the largest node's."""
        cpu_free, total_free = self.state.cpu_free, self.state.total_free
        cpu_milli, total_milli = shape.cpu_milli, shape.total_milli
        for row in rows:
            cpu_left = (cpu_free[row] - cpu_milli) / CPU_MILLI_MAX
            gpu_left = (total_free[row] - total_milli) / GPUS_MILLI_MAX
            scores[row] = int(100 * (1 - 0.5 * cpu_left - 0.5 * gpu_left))
