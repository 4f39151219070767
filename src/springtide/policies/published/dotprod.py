"""DotProd: the node whose free CPU and GPU point least the way that the pod's asks do."""

from collections.abc import Sequence

from springtide.engine.trace.policy import Scores
from springtide.engine.trace.shape import Shape
from springtide.policies.published.scoring import CPU_MILLI_MAX, GPUS_MILLI_MAX, HighestScore


class DotProd(HighestScore):
    """The smaller the product of free and asked shares, the better."""

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Score by one less the mean of the products, in hundredths."""
        cpu_free, total_free = self.state.cpu_free, self.state.total_free
        cpu_share = shape.cpu_milli / CPU_MILLI_MAX
        gpu_share = shape.total_milli / GPUS_MILLI_MAX
        for row in rows:
            cpu = cpu_free[row] / CPU_MILLI_MAX * cpu_share
            gpu = total_free[row] / GPUS_MILLI_MAX * gpu_share
            scores[row] = int(100 * (1 - (cpu + gpu) / 2))
