"""Who went where in an estimate: pods and new nodes by index, in order of placement.

Kept in runs, a slice of a batch with an array of node indices, so that ten thousand equal pods are
a few slices until somebody asks for their names.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.limits import Limiter
from springtide.model.pod import Pod

Indices = npt.NDArray[np.intp]


class Placed:
    """The placements of one estimate. Of every batch, the first pods are placed first."""

    def __init__(self) -> None:
        self._runs: list[tuple[Sequence[Pod], Indices]] = []
        self._taken: Counter[int] = Counter()

    def add(self, batch: Batch, pods: Sequence[Pod], nodes: Indices) -> None:
        """Record that these pods of the batch went to these nodes, one each."""
        self._runs.append((pods, nodes))
        self._taken[id(batch)] += len(pods)

    def count(
        self, batch: Batch, pods: Sequence[Pod], limiter: Limiter, *, each: int, first: int
    ) -> tuple[int, bool]:
        """Record the pods on nodes that take so many each and are merely counted, from `first` on.

        Return how many nodes that is, and whether all that are wanted were permitted.
        """
        wanted = -(-len(pods) // each)
        granted = limiter.permit(wanted) if wanted else 0
        counted = pods[: granted * each]
        self.add(batch, counted, first + np.arange(len(counted)) // each)
        return granted, granted == wanted

    def pods(self) -> tuple[Pod, ...]:
        """Return all placed pods in order."""
        return tuple(pod for pods, _ in self._runs for pod in pods)

    def left(self, items: Sequence[Batch]) -> tuple[Pod, ...]:
        """Return the pods of these batches that were not placed, in order."""
        return tuple(pod for batch in items for pod in batch.pods[self._taken[id(batch)] :])

    def by_node(self) -> list[tuple[int, tuple[Pod, ...]]]:
        """Return every node that got a pod, ascending, with its pods in order of placement."""
        found: dict[int, list[Pod]] = {}
        for pods, nodes in self._runs:
            for node, mine in _parted(pods, nodes):
                found.setdefault(node, []).extend(mine)
        return [(node, tuple(found[node])) for node in sorted(found)]


def _parted(pods: Sequence[Pod], nodes: Indices) -> list[tuple[int, Sequence[Pod]]]:
    if not len(nodes):
        return []
    steps = np.diff(nodes)
    if (steps < 0).any():
        order = np.argsort(nodes, kind="stable")
        pods = [pods[index] for index in order.tolist()]
        nodes = nodes[order]
        steps = np.diff(nodes)
    cuts = [0, *(np.flatnonzero(steps) + 1).tolist(), len(nodes)]
    firsts = nodes[cuts[:-1]].tolist()
    return [
        (node, pods[start:end])
        for node, start, end in zip(firsts, cuts[:-1], cuts[1:], strict=True)
    ]
