"""How many pods a second get devices: filter, score, exact placement and ledger, one pod after the other?

Nodes of 8 cards that run four pods each, and pods that come mixed from so many classes, each onto the
best node there is. The same decision made the plain way, which asks the exact fit of every node, runs
beside it, and so do four times as many nodes. Beside that: what the first look at a class costs, what
a device costs in memory, and what trying a pod and taking it back costs.
"""

import gc
import random
import tracemalloc
from collections.abc import Iterator
from itertools import count

from bench.clusters import CARDS
from bench.figure import Figure, cpu_s
from springtide.apps.planner.families import Policies, families
from springtide.base.quantity import parse
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.choice import best_fit
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.device import Device, Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Container, Pod, PodSpec

KINDS = families(None, Policies())
NAMES = frozenset(name for family in KINDS.values() for name in family.resource_names())
PEER = 6
"""Pods a second of HAMi's scheduler at 5,000 nodes, as measured in a process of its own."""
MEASURED = 10_000
TRIES = 2_000


def measure() -> Iterator[Figure]:
    """Yield pods a second, and how they compare."""
    world = World(5_000, classes=100)
    yield _first_sight(world)
    rate_s = world.place(MEASURED)
    how = f"5,000 nodes x 8, 100 classes; {1 / rate_s / PEER:,.0f} times HAMi's {PEER}"
    yield Figure("100 classes", 1 / rate_s, "pods/s", how)
    plain_s = world.place_plainly(10)
    how = f"{plain_s * 1e3:.0f} ms a pod when every node is asked"
    yield Figure("100 classes against node by node", plain_s / rate_s, "times", how)
    yield from _tried(world)
    del world
    gc.collect()
    many_s = World(5_000, classes=1_000).place(MEASURED)
    yield Figure("1,000 classes", 1 / many_s, "pods/s", "more than tables are kept for")
    gc.collect()
    large = World(20_000, classes=100)
    large_s = large.place(MEASURED)
    how = f"{large_s * 1e6:.0f} us a pod against {rate_s * 1e6:.0f} us"
    yield Figure("20,000 nodes against 5,000", large_s / rate_s, "times", how)
    del large
    gc.collect()
    yield _memory()


class World:
    """A cluster of nodes with cards, and pods of some classes that keep coming."""

    def __init__(self, nodes: int, *, classes: int) -> None:
        self.ledger = ledger(nodes)
        self.tables = Tables(
            self.ledger, Framework(FrameworkConfig(ignored_resources=NAMES)), KINDS
        )
        self.classify = Classifier(KINDS).classify
        self.specs = [spec_of(index) for index in range(classes)]
        self._chance = random.Random(1)
        self._number = count()
        for _ in range(4 * nodes):
            self._place_one(self.next())

    def place(self, pods: int) -> float:
        """Place so many pods; return the seconds for one."""
        coming = [self.next() for _ in range(pods)]

        def place_all() -> None:
            for pod in coming:
                self._place_one(pod)

        return cpu_s(place_all) / pods

    def place_plainly(self, pods: int) -> float:
        """Decide about so many pods by the exact fit of every node; return the seconds for one."""
        coming = [self.classify(self.next()) for _ in range(pods)]
        family = KINDS["NVIDIA"]
        rows = range(self.ledger.count)

        def decide_all() -> None:
            for pod_class in coming:
                for row in rows:
                    view = self.ledger.view(row, family.name)
                    assert view is not None
                    family.place(pod_class.asks[0], view)

        return cpu_s(decide_all) / pods

    def next(self) -> Pod:
        """Return the next pod that comes, of any class."""
        number = next(self._number)
        spec = self._chance.choice(self.specs)
        return Pod(namespace="default", name=f"pod-{number}", uid=f"pod-{number}", spec=spec)

    def _place_one(self, pod: Pod) -> None:
        pod_class = self.classify(pod)
        placement = best_fit(pod_class, self.tables)
        if placement is not None:
            self.ledger.hold(holding(pod.uid, pod_class, placement))


def _first_sight(world: World) -> Figure:
    classes = [
        world.classify(
            Pod(namespace="n", name=f"new-{index}", uid=f"new-{index}", spec=spec_of(index))
        )
        for index in range(200, 240)
    ]
    took_s = cpu_s(lambda: [best_fit(each, world.tables) for each in classes]) / len(classes)
    return Figure("first sight of a class", took_s * 1e3, "ms", "5,000 nodes x 8, best node chosen")


def _tried(world: World) -> Iterator[Figure]:
    """Yield what it costs to try a pod and take it back, on two sizes of cluster."""
    small = World(500, classes=100)
    large_s, small_s = _trial_s(world), _trial_s(small)
    yield Figure("fork, place, revert", large_s * 1e6, "us", "one pod with a card, 5,000 nodes x 8")
    how = f"{large_s * 1e6:.0f} us against {small_s * 1e6:.0f} us"
    yield Figure("fork, place, revert: 5,000 nodes against 500", large_s / small_s, "times", how)


def _trial_s(world: World) -> float:
    overlay = Overlay(world.ledger)
    pod_class = world.classify(world.next())

    def tries() -> None:
        for _ in range(TRIES):
            overlay.fork()
            placement = best_fit(pod_class, world.tables)
            assert isinstance(placement, Placement)
            overlay.hold(holding("tried", pod_class, placement))
            overlay.revert()

    return cpu_s(tries, repeat=3) / TRIES


def _memory() -> Figure:
    """Return how many bytes a device takes in the columns and records of a ledger."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = ledger(5_000)
    devices = tracemalloc.get_traced_memory()[0] - before
    before = tracemalloc.get_traced_memory()[0]
    bare = Ledger()
    for index in range(5_000):
        bare.add_node(_node(index))
    without = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    del kept
    each = (devices - without) / (5_000 * 8)
    return Figure(
        "memory", each, "bytes", "a device, with its record; nodes without devices deducted"
    )


def ledger(nodes: int) -> Ledger:
    """Return a cluster of nodes with 8 cards of four models."""
    made = Ledger()
    for index in range(nodes):
        made.add_node(_node(index), {"NVIDIA": _inventory(index)})
    return made


def _node(index: int) -> Node:
    amounts = {"cpu": "96", "memory": "1024Gi", "pods": "110"}
    allocatable = tuple((name, parse(text)) for name, text in sorted(amounts.items()))
    name = f"node-{index}"
    return Node(name=name, labels={HOSTNAME_LABEL: name}, allocatable=allocatable)


def _inventory(index: int) -> Inventory:
    _, model, memory_mib = CARDS[index % len(CARDS)]
    return Inventory(
        "NVIDIA",
        tuple(
            Device(
                id=f"GPU-{index:05d}-{card}", index=card, slots=10, memory_mib=memory_mib,
                cores=100, type=model, numa=card // 4, mode="hami-core", is_healthy=True,
            )
            for card in range(8)
        ),
    )  # fmt: skip


def spec_of(index: int) -> PodSpec:
    """Return what pods of one class ask."""
    chance = random.Random(index)
    asked = {
        "cpu": chance.choice(("500m", "1", "2", "4")),
        "memory": chance.choice(("2Gi", "4Gi", "8Gi")),
        "nvidia.com/gpu": "1" if index % 10 else "2",
        "nvidia.com/gpucores": str(chance.choice((0, 10, 20, 30))),
        "nvidia.com/gpumem": str(1000 + 13 * index + chance.randrange(13)),
    }
    pairs = tuple((name, parse(text)) for name, text in asked.items())
    return PodSpec(containers=(Container(name="main", requests=pairs, limits=pairs),))
