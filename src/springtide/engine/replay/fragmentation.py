"""Fragmentation: how much of the free device memory the pods that come could not use.

A *shape* is what pods ask, devices, resources and constraints; it counts as often as pods have it. For a
shape, free memory is of no use on a node that does not take such a pod, whatever the reason, and on
every device that refuses it on a node that does. The cluster's figure is the mean over the shapes,
each family's over those that ask for its devices. This is the measure that Weng et al. (USENIX
ATC 2023) define for thousandths of one kind of device, with memory for thousandths and all rules for
the few of a trace; pods without devices, to which all device memory is of no use, are left out, since
they would only add the same to every policy.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.family import ACCEPTED
from springtide.engine.placement.tables import Tables
from springtide.model.columns import Int64
from springtide.model.device_columns import DeviceColumns
from springtide.model.pod import Pod

TYPICAL_PERCENT: Final = 95
SHAPES_MAX: Final = 256

_Key = tuple[object, ...]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that stands for all of its shape, and how many they are."""

    pod: Pod
    count: int


class Fragments(msgspec.Struct, frozen=True, kw_only=True):
    """The free memory of one family's devices that serve, and what of it is of no use, on average."""

    family: str
    free_mib: int
    unusable_mib: float


def shapes(pods: Iterable[Pod], classifier: Classifier) -> tuple[Shape, ...]:
    """Return the typical shapes among pods that ask for devices, the most frequent first.

    They are as many as it takes to stand for 95 % of the pods, and at most `SHAPES_MAX`.
    """
    counts: Counter[_Key] = Counter()
    first: dict[_Key, Pod] = {}
    for pod in pods:
        pod_class = classifier.classify(pod)
        if pod_class.asks and pod_class.refusal is None:
            key = _key(pod_class)
            counts[key] += 1
            first.setdefault(key, pod)
    wanted = counts.total() * TYPICAL_PERCENT / 100
    found: list[Shape] = []
    for key, count in counts.most_common(SHAPES_MAX):
        if sum(shape.count for shape in found) >= wanted:
            break
        found.append(Shape(pod=first[key], count=count))
    return tuple(found)


def fragments(
    typical: Sequence[Shape], classifier: Classifier, tables: Tables
) -> tuple[Fragments, ...]:
    """Return the figure of every family that some shape asks for, in the order of their names."""
    ledger = tables.ledger
    weighted = [(classifier.classify(shape.pod), shape.count) for shape in typical]
    found = []
    for family, columns in sorted(ledger.devices.items()):
        asking = [(each, count) for each, count in weighted if _asks(each, family)]
        free = _free(columns, ledger.count)
        total = sum(count for _, count in asking)
        if total and free.size:
            unusable = sum(count * _unusable(each, family, tables, free) for each, count in asking)
            found.append(
                Fragments(family=family, free_mib=int(free.sum()), unusable_mib=unusable / total)
            )
    return tuple(found)


def _key(pod_class: PodClass) -> _Key:
    # What is one pod's own, such as its claims and its place in an order, makes no shape.
    spec = pod_class.framework.spec
    return (
        pod_class.asks,
        pod_class.amounts,
        spec.node_selector,
        spec.required_node_terms,
        spec.tolerations,
    )


def _asks(pod_class: PodClass, family: str) -> bool:
    return any(ask.family == family for ask in pod_class.asks)


def _free(columns: DeviceColumns, count: int) -> Int64:
    """Return the free memory [rows, devices] of devices that serve, 0 of all others."""
    rows = slice(count)
    free = columns.memory_total[rows].astype(np.int64) - columns.memory_used[rows]
    serves = columns.healthy[rows] & ~columns.cordoned[rows] & (columns.opaque[rows] == 0)
    return np.where(serves, np.maximum(free, 0), 0)


def _unusable(pod_class: PodClass, family: str, tables: Tables, free: Int64) -> int:
    rows = tables.candidates(pod_class)
    left = int(free.sum())
    for ask in pod_class.asks:
        if ask.family == family and len(rows):
            columns = tables.ledger.devices[family]
            codes = tables.families[family].evaluate(ask, columns, rows).codes
            accepts = codes[:, : free.shape[1]] == ACCEPTED
            left -= int(free[rows, : accepts.shape[1]][accepts].sum())
    return left
