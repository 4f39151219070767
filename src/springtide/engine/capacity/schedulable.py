"""Which pending pods fit the nodes that exist, devices included.

As Cluster Autoscaler's filter of schedulable pods: by priority, highest first, in input order, the
search going on behind the last match; a pod of a class that has failed is not tried again, since
placements only take room away. Where they may also make room, because the pod's rules read other
pods, only replicas of the one that failed are passed over. A pod that asks for devices goes where
its family's node score is highest, which is where the live scheduler would put it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from springtide.base.progress import Progress, Unwatched
from springtide.engine.placement.choice import by_score
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.family import Rows
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod

_UNWATCHED: Final = Unwatched()


class Fill(msgspec.Struct, frozen=True):
    """Pods placed, each with its node's name, and pods that fit nowhere; both by priority."""

    placed: tuple[tuple[Pod, str], ...]
    left: tuple[Pod, ...]


def fill(
    pods: Sequence[Pod],
    tables: Tables,
    overlay: Overlay,
    classifier: Classifier,
    *,
    first_row: int = 0,
    progress: Progress = _UNWATCHED,
) -> Fill:
    """Place what fits on the rows from `first_row` on, hold it in the overlay, and say what did."""
    placed: list[tuple[Pod, str]] = []
    failed: set[tuple[PodClass, str]] = set()
    failed_at: dict[PodClass, int] = {}
    last = first_row
    ordered = sorted(pods, key=lambda pod: -pod.spec.priority)
    tables.ask_ahead(map(classifier.classify, ordered))
    for pod in ordered:
        pod_class = classifier.classify(pod)
        likes = _likes(pod, pod_class)
        # Until something is placed, the answer to equal pods is the same.
        is_hopeless = likes in failed or failed_at.get(pod_class) == len(placed)
        placement = None if is_hopeless else _best(pod_class, tables, last, first_row)
        if placement is None:
            failed.add(likes)
            failed_at[pod_class] = len(placed)
            continue
        overlay.hold(holding(pod.uid, pod_class, placement))
        placed.append((pod, overlay.ledger.names[placement.row]))
        progress.placed(len(placed), len(ordered))
        last = placement.row
    done = {pod.uid for pod, _ in placed}
    return Fill(tuple(placed), tuple(pod for pod in ordered if pod.uid not in done))


def _likes(pod: Pod, pod_class: PodClass) -> tuple[PodClass, str]:
    """Return what a pod has in common with those that fail if it does."""
    if not pod_class.framework.reads_others:
        return pod_class, ""
    return pod_class, pod.uid if pod.owner is None else pod.owner.uid


def _best(pod_class: PodClass, tables: Tables, last: int, first_row: int) -> Placement | None:
    rows = tables.candidates(pod_class)
    # A cordoned node is passed over even for pods that tolerate it.
    rows = rows[(rows >= first_row) & ~tables.ledger.unschedulable[rows]]
    return tables.first_fit(pod_class, _preferred(pod_class, tables, rows, last))


def _preferred(pod_class: PodClass, tables: Tables, rows: Rows, last: int) -> Iterator[int]:
    if pod_class.asks:
        return by_score(rows, tables.table(pod_class).rank[rows])
    cut = int(np.searchsorted(rows, last, side="right"))
    return iter([*rows[cut:].tolist(), *rows[:cut].tolist()])
