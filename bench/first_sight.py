"""How long does the first look at a new class of pods take, on 5,000 nodes x 8 cards?

Framework filters and device fit apart, each against the plain way that judges node after node.
"""

import copy
from collections.abc import Iterator

import numpy as np

from bench import clusters, world
from bench.figure import Figure, cpu_s
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier

NODES = 5_000


def measure() -> Iterator[Figure]:
    """Yield milliseconds a look, and how many times the plain way takes."""
    dump = clusters.dump(nodes=NODES, placed=20_000, pending=40, shape_count=40, groups=20)
    kinds = families(None, Policies())
    picture = assemble(world.read(dump, groups=20), kinds)
    ledger = picture.ledger
    names = frozenset(name for family in kinds.values() for name in family.resource_names())
    framework = Framework(FrameworkConfig(ignored_resources=names))
    classify = Classifier(kinds).classify
    classes = [classify(pod) for pod in picture.waiting]
    rows = np.arange(ledger.count)

    def filters() -> None:
        for item in classes:
            framework.evaluate(framework.prepare(item.framework, ledger), ledger, rows)

    filters_s = cpu_s(filters, repeat=5) / len(classes)
    yield Figure(
        "framework filters", filters_s * 1e3, "ms", f"{len(classes)} classes, {NODES} nodes"
    )

    family, columns = kinds["NVIDIA"], ledger.devices["NVIDIA"]
    asks = [item.asks[0] for item in classes]

    def fits() -> None:
        for ask in asks:
            family.evaluate(ask, copy.copy(columns), rows)

    fits_s = cpu_s(fits, repeat=5) / len(asks)
    yield Figure("device fit", fits_s * 1e3, "ms", f"{len(asks)} asks, {NODES} nodes x 8 cards")

    views = [view for row in range(500) if (view := ledger.view(row, "NVIDIA")) is not None]
    plain_s = cpu_s(lambda: [family.place(asks[0], view) for view in views]) * NODES / len(views)
    yield Figure(
        "node by node", plain_s / fits_s, "times", f"{plain_s * 1e3:.0f} ms for {NODES} nodes"
    )
