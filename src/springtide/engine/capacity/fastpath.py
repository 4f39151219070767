"""Which batch may be counted instead of packed (Cluster Autoscaler's fast bin-packing).

The batch whose packing would cost most is placed last, on one node, and the rest is a division.
"""

from collections.abc import Sequence

from springtide.base.names import CPU, MEMORY
from springtide.engine.capacity.batches import Batch
from springtide.model.resources import Amounts, amounts

# A rule between pods makes one node's room depend on others.
_RULES_BETWEEN_PODS = frozenset({"topologySpreadConstraints", "affinity.podAntiAffinity"})


def best_for_fastpath(items: Sequence[Batch], capacity: Amounts) -> Batch | None:
    """Return the batch that saves most placements, the later of equals; None if none may."""
    best: Batch | None = None
    most = -1
    for batch in items:
        if _RULES_BETWEEN_PODS.isdisjoint(batch.first.spec.fields):
            saved = _saved(batch, capacity)
            if saved >= most:
                best, most = batch, saved
    return best


def _saved(batch: Batch, capacity: Amounts) -> int:
    count = len(batch.pods)
    wanted = amounts(batch.first.spec.containers[0].requests)
    nodes = max(
        -(-count * wanted.get(name, 0) // capacity[name]) if capacity.get(name) else 0
        for name in (CPU, MEMORY)
    )
    return count - count // nodes if nodes else 0
