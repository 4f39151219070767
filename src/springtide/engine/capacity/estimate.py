"""How many new nodes of one template these pods need, and which pods go on each.

Cluster Autoscaler's binpacking estimator: batches by size, each first onto the nodes that this
estimate has added already (searching on from the last match), then onto further new nodes, of which
only the last is filled. A batch that does not fit an empty node ends with that node left empty;
an empty node that did not help is not followed by another.
"""

from collections.abc import Sequence

import msgspec

from springtide.engine.capacity.batches import Batch, by_size
from springtide.engine.capacity.fastpath import best_for_fastpath
from springtide.engine.capacity.limits import Limiter
from springtide.engine.capacity.packing import Packing
from springtide.engine.capacity.start import DeviceTotals, Start
from springtide.engine.capacity.stepping import Stepping
from springtide.engine.framework.volume_restrictions import watched_disks
from springtide.engine.placement.classes import PodClass
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.pod import Pod
from springtide.model.resources import amounts
from springtide.model.storage import READ_WRITE_ONCE_POD, Storage


class NewNode(msgspec.Struct, frozen=True):
    """One node that the estimate adds, with the pods placed on it in order."""

    name: str
    pods: tuple[Pod, ...]


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: new nodes that got a pod, all pods placed in order, and those left over.

    `elsewhere` are nodes that were there before and took pods for which new ones made room by
    spreading. `is_limited` says that pods were left over because no further node was permitted.
    """

    nodes: tuple[NewNode, ...]
    placed: tuple[Pod, ...]
    left: tuple[Pod, ...]
    elsewhere: tuple[NewNode, ...] = ()
    devices: tuple[DeviceTotals, ...] = ()
    is_limited: bool = False

    @property
    def node_count(self) -> int:
        """Return how many nodes are needed."""
        return len(self.nodes)


def estimate(
    items: Sequence[Batch], start: Start, limiter: Limiter, *, fastpath: bool = False
) -> Estimate:
    """Return how many copies of the start node the batches need."""
    limiter.reset()
    order = by_size(items, amounts(start.template.node.allocatable))
    fast: Batch | None = None
    is_bound = start.tables.quotas_bind((batch.pod_class, len(batch.pods)) for batch in items)
    if fastpath and not is_bound:
        fast = best_for_fastpath(order, amounts(start.template.node.capacity))
        if fast is not None:
            order = [batch for batch in order if batch is not fast] + [fast]
    storage = start.tables.framework.storage
    apart = is_bound or any(
        tells_nodes_apart(batch.pod_class)
        or keeps_company_away(batch.pod_class, storage)
        or start.tables.claims_devices(batch.pod_class)
        for batch in items
    )
    placer: Packing | Stepping = Stepping(start) if apart else Packing(start)
    is_open = True
    for batch in order:
        rest = placer.onto_added(batch)
        if not rest or not is_open:
            continue
        if batch is fast and not looks_at_names(batch.pod_class):
            is_open = placer.onto_counted(batch, rest, limiter)
        else:
            is_open = placer.onto_new(batch, rest, limiter)
    return _answer(items, placer, is_limited=not is_open)


def tells_nodes_apart(pod_class: PodClass) -> bool:
    """Return whether the class can tell two copies of one template apart, by names or by pods."""
    return looks_at_names(pod_class) or pod_class.framework.reads_others


def looks_at_names(pod_class: PodClass) -> bool:
    """Return whether the class reads the names of nodes: equal nodes cannot merely be counted."""
    ask = pod_class.framework
    terms = ask.spec.required_node_terms or ()
    return (
        bool(ask.node_name)
        or any(key == HOSTNAME_LABEL for key, _ in ask.spec.node_selector)
        or any(term.fields for term in terms)
        or any(part.key == HOSTNAME_LABEL for term in terms for part in term.expressions)
    )


def keeps_company_away(pod_class: PodClass, storage: Storage | None) -> bool:
    """Return whether pods of the class may shut each other out by a disk or claim that they share."""
    claims = storage.claims if storage is not None else {}
    return bool(watched_disks(pod_class.disks)) or any(
        READ_WRITE_ONCE_POD in claims[key].access_modes for key in pod_class.claims if key in claims
    )


def _answer(items: Sequence[Batch], placer: Packing | Stepping, *, is_limited: bool) -> Estimate:
    left = placer.placed.left(items)
    by_node = placer.placed.by_node()
    return Estimate(
        nodes=tuple(NewNode(placer.name(node), pods) for node, pods in by_node if node >= 0),
        placed=placer.placed.pods(),
        left=left,
        elsewhere=tuple(NewNode(placer.name(node), pods) for node, pods in by_node if node < 0),
        devices=placer.device_totals(),
        is_limited=is_limited and bool(left),
    )
