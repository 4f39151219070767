"""How long does it take to say how many more pods of 30 asks fit on 5,000 nodes x 8 cards?

A standard ladder (parts of a card's memory, 1 to 8 whole cards) and asks of pods with cpu and memory, half
of them for several cards, beside what placing pods one by one until it fails takes. Half of the cards are in
use, each in its own way, so that no two nodes are alike.
"""

import random
from collections.abc import Iterator, Sequence

import numpy as np

from bench import clusters, world
from bench.figure import Figure, cpu_s
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.headroom import room
from springtide.engine.headroom.walking import Walks
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import holding
from springtide.engine.placement.tables import Tables
from springtide.model.device import Share
from springtide.model.ledger import Holding
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from tests.builders import pod

NODES = 5_000
STEPPED = 300


def measure() -> Iterator[Figure]:
    """Yield the seconds for all asks, and how many times one by one takes."""
    dump = clusters.dump(nodes=NODES, placed=20_000, pending=0, shape_count=40, groups=20)
    kinds = families(None, Policies())
    found = world.read(dump, groups=20)
    picture = assemble(found, kinds)
    picture.ledger.hold_all([_use(row) for row in range(NODES)])
    names = frozenset(name for family in kinds.values() for name in family.resource_names())
    framework = Framework(FrameworkConfig(ignored_resources=names))
    classify = Classifier(kinds).classify
    asks = [classify(each) for each in _asks()]
    total = 0

    def all_at_once() -> None:
        nonlocal total
        tables = Tables(picture.ledger, framework, kinds)
        overlay, walks = Overlay(picture.ledger), Walks(tables)
        answers = [room(each, tables, overlay, walks) for each in asks]
        total = sum(int(each.counts.sum()) for each in answers)

    took_s = cpu_s(all_at_once, repeat=3)
    yield Figure("30 asks", took_s, "s", f"{NODES} nodes x 8 cards, room for {total} pods")
    tables = Tables(picture.ledger, framework, kinds)
    each_s = cpu_s(lambda: _one_by_one(asks, tables)) / STEPPED
    how = f"{each_s * 1e6:.0f} us a pod, over {STEPPED} pods"
    yield Figure("one by one", each_s * total / took_s, "times", how)


def _use(row: int) -> Holding:
    rng = random.Random(row)
    shares = tuple(
        Share(position=card, memory_mib=rng.randrange(12_000), cores=rng.randrange(0, 60, 10))
        for card in range(8)
        if rng.random() < 0.5
    )
    return Holding(uid=f"use-{row}", row=row, shares=(("NVIDIA", shares),))


def _asks() -> Sequence[Pod]:
    parts = [pod(gpu=1, gpumem=memory) for memory in (2048, 4096, 8192, 16384, 20480, 40960)]
    whole = [pod(gpu=count, gpucores=100) for count in (1, 2, 3, 4, 6, 8)]
    shared = [
        pod(cpu=cpu, memory=f"{4 * cpu}Gi", gpu=1, gpumem=1500 * cpu, gpucores=10 * cpu)
        for cpu in range(1, 10)
    ]
    several = [
        pod(cpu=4 * count, memory="32Gi", gpu=count, gpumem=memory)
        for count in (2, 4, 8)
        for memory in (6000, 12000, 30000)
    ]
    return [*parts, *whole, *shared, *several]


def _one_by_one(asks: Sequence[PodClass], tables: Tables) -> None:
    overlay = Overlay(tables.ledger)
    for ask in asks:
        with overlay.trial():
            for number in range(STEPPED // len(asks)):
                rows = tables.candidates(ask)
                order = np.argsort(-tables.table(ask).rank[rows], kind="stable")
                placement = tables.first_fit(ask, rows[order].tolist())
                if placement is None:
                    break
                overlay.hold(holding(f"more-{number}", ask, placement))
