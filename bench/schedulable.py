"""Which of 12,000 pending pods fit 1,000 nodes that exist? Cluster Autoscaler's own benchmark, and one with cards.

In the first cluster nothing fits, as there; pods are of 100 shapes, so that no two neighbours are
alike. In the second most pods find a card, each on the node that suits best.
"""

from collections.abc import Iterator

from bench import placing, records
from bench.figure import Figure, cpu_s
from springtide.engine.capacity.schedulable import Fill, fill
from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod

NODES, PENDING, SHAPES = 1_000, 12_000, 100
PEER_S = 5.9
"""Cluster Autoscaler's filter of schedulable pods, measured in a process of its own."""


def measure() -> Iterator[Figure]:
    """Yield seconds for all pods, where none fits, and pods a second, where most do."""
    took_s, found = _full()
    how = f"{PEER_S / took_s:,.0f} times as fast as Cluster Autoscaler; {len(found.placed)} fit"
    yield Figure("12,000 pending, no room", took_s, "s", how)
    took_s, found = _roomy()
    how = f"{len(found.placed):,} of {PENDING:,} fit, in {took_s:.2f} s"
    yield Figure("12,000 pending, cards free", PENDING / took_s, "pods/s", how)


def _full() -> tuple[float, Fill]:
    ledger = records.ledger(records.nodes(NODES), _running(), None, {})
    asked = [
        records.spec(requests={"cpu": f"{2000 + shape}m", "memory": "1Gi"})
        for shape in range(SHAPES)
    ]
    pending = [
        Pod(namespace="default", name=f"p{n}", uid=f"p{n}", spec=asked[n % SHAPES])
        for n in range(PENDING)
    ]
    return _timed(Tables(ledger, Framework(), {}), Classifier({}), pending)


def _running() -> list[Pod]:
    spec = records.spec(requests={"cpu": "3", "memory": "8Gi"})
    return records.one_a_node(records.pods(NODES, spec), NODES)


def _roomy() -> tuple[float, Fill]:
    world = placing.World(NODES, classes=SHAPES)
    return _timed(world.tables, Classifier(placing.KINDS), [world.next() for _ in range(PENDING)])


def _timed(tables: Tables, classifier: Classifier, pending: list[Pod]) -> tuple[float, Fill]:
    overlay = Overlay(tables.ledger)
    found: list[Fill] = []

    def once() -> None:
        with overlay.trial():
            found.append(fill(pending, tables, overlay, classifier))

    return cpu_s(once, repeat=2), found[-1]
