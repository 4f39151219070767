"""Which batch may be counted instead of packed (Cluster Autoscaler's fast bin-packing).

The batch whose packing would cost most is placed last, on one node, and the rest is a division.
"""

from collections.abc import Sequence

from springtide.base.names import CPU, MEMORY
from springtide.base.selectors import MalformedSelector, compile_selector
from springtide.engine.capacity.batches import Batch
from springtide.model.neighbours import AffinityTerm
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.pod import Pod
from springtide.model.resources import Amounts, amounts


def best_for_fastpath(items: Sequence[Batch], capacity: Amounts) -> Batch | None:
    """Return the batch that saves most placements, the later of equals; None if none may."""
    best: Batch | None = None
    most = -1
    for batch in items:
        if _may_be_counted(batch):
            saved = _saved(batch, capacity)
            if saved >= most:
                best, most = batch, saved
    return best


def _may_be_counted(batch: Batch) -> bool:
    """Return whether one new node shows how many of the pods go on each: no domain is shared."""
    asked = batch.first.spec.neighbours
    is_apart = all(term.topology_key == HOSTNAME_LABEL for term in asked.anti_affinity)
    return not asked.spread and is_apart


def _saved(batch: Batch, capacity: Amounts) -> int:
    count = len(batch.pods)
    wanted = amounts(batch.first.spec.containers[0].requests)
    nodes = max(
        count if _is_alone(batch.first) else 0,
        *(
            -(-count * wanted.get(name, 0) // capacity[name]) if capacity.get(name) else 0
            for name in (CPU, MEMORY)
        ),
    )
    return count - count // nodes if nodes else 0


def _is_alone(pod: Pod) -> bool:
    """Return whether the pod keeps its like away from its node."""
    return any(
        term.topology_key == HOSTNAME_LABEL and _matches(term, pod)
        for term in pod.spec.neighbours.anti_affinity
    )


def _matches(term: AffinityTerm, pod: Pod) -> bool:
    try:
        return compile_selector(term.selector).matches(pod.labels)
    except MalformedSelector:
        return False
