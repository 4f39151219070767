"""Placing pods in turn on the nodes of a ledger: the live decision, taken once a pod.

A pod that no node takes when it comes is refused for good; nobody is evicted for it, and it does not
come again. Whoever asks for the answers gets each while the ledger is as it was decided on, or, for a
pod that is placed, with the pod on it.
"""

from collections.abc import Iterator, Sequence

import msgspec

from springtide.engine.placement.choice import best_fit
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.engine.replay.turns import Turn
from springtide.model.pod import Pod


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one pod, by its place among all; no placement means that no node takes it."""

    pod: int
    pod_class: PodClass
    placement: Placement | None


def placed_in_turn(
    pods: Sequence[Pod], order: Sequence[Turn], classifier: Classifier, tables: Tables
) -> Iterator[Answer]:
    """Yield the answer for each pod that comes; the ledger of the tables holds who stays."""
    ledger = tables.ledger
    for turn in order:
        pod = pods[turn.pod]
        if turn.is_departure:
            if pod.uid in ledger.holdings:
                ledger.release(pod.uid)
            continue
        pod_class = classifier.classify(pod)
        placement = best_fit(pod_class, tables)
        if placement is not None:
            ledger.hold(holding(pod.uid, pod_class, placement))
        yield Answer(pod=turn.pod, pod_class=pod_class, placement=placement)
