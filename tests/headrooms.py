"""Asking for headroom in tests: ledgers with pods on them, and the plain way to fill them."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from springtide.engine.headroom import Room, room
from springtide.engine.headroom.walking import Walks
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.device import Device, Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from tests.estimates import FAMILIES, NVIDIA, tables_of

Counted = tuple[list[int], dict[int, Refusal]]


def ledger_of(
    nodes: Sequence[tuple[Node, Sequence[Device]]], running: Sequence[tuple[Pod, int]] = ()
) -> Ledger:
    """Return a ledger of these nodes with their cards; pods run on rows if they fit there."""
    ledger = Ledger()
    for index, (node, devices) in enumerate(nodes):
        inventory = Inventory(NVIDIA.name, tuple(devices))
        ledger.add_node(node, {NVIDIA.name: inventory} if devices else {}, name=f"node-{index}")
    tables = tables_of(ledger)
    for number, (pod, row) in enumerate(running):
        pod_class = class_of(pod)
        placement = tables.place(pod_class, row % ledger.count)
        if not isinstance(placement, Refusal):
            ledger.hold(holding(f"running-{number}", pod_class, placement))
    return ledger


def class_of(pod: Pod) -> PodClass:
    """Return the class of a pod; every label counts where a rule reads some."""
    keys = frozenset({"app"}) if pod.labels else None
    return Classifier(FAMILIES, keys=keys).classify(pod)


def room_of(pod: Pod, ledger: Ledger) -> Room:
    """Return the room for pods like this one."""
    tables = tables_of(ledger)
    return room(class_of(pod), tables, Overlay(ledger), Walks(tables))


def told(answer: Room) -> Counted:
    """Return the counts by row, and each row's refusal."""
    refusals: dict[int, Refusal] = {}
    for refusal, rows in answer.refusals:
        for row in rows.tolist():
            assert row not in refusals
            refusals[row] = refusal
    return answer.counts.tolist(), refusals


def one_by_one(pod: Pod, tables: Tables) -> Counted:
    """Return the same by placing pod after pod until no node takes one."""
    pod_class, overlay = class_of(pod), Overlay(tables.ledger)
    counts: Counter[int] = Counter()
    with overlay.trial():
        while (placement := _anywhere(pod_class, tables)) is not None:
            overlay.hold(holding(f"more-{counts.total()}", pod_class, placement))
            counts[placement.row] += 1
        rows = range(tables.ledger.count)
        refusals = {row: tables.refusal(pod_class, row) for row in rows}
    return [counts[row] for row in rows], refusals


def _anywhere(pod_class: PodClass, tables: Tables) -> Placement | None:
    rows = tables.candidates(pod_class)
    scores = tables.table(pod_class).rank[rows]
    return tables.first_fit(pod_class, rows[np.argsort(-scores, kind="stable")].tolist())
