"""How long does it take to say why a pod has no node, and what would help?

5,000 nodes x 8 cards in 20 groups, full to the last few GiB; pods that ask for more device memory,
cores or cards than any node has, one that is kept away by labels, and one that others could make
room for. A figure is the slowest of them.
"""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from bench import clusters, world
from bench.figure import Figure, wall_s
from springtide.apps.planner.families import Policies
from springtide.apps.planner.stage import staged
from springtide.base.quantity import of
from springtide.engine.explain import Explained, Scene, explain
from springtide.engine.placement.wishes import edited, put
from springtide.model.overlay import Overlay
from springtide.model.pod import Container, Pod

NODES, GROUPS, PLACED = 5_000, 20, 40_000


def measure() -> Iterator[Figure]:
    """Yield the seconds that the slowest explanation takes after loading."""
    dump = clusters.dump(
        nodes=NODES, placed=PLACED, pending=1, shape_count=40, groups=GROUPS, placed_share=0.8
    )
    found = world.read(dump, groups=GROUPS)
    clock = world.MonotonicClock()
    slowest: dict[str, float] = {}
    with staged(found, policies=Policies(), calls=None, clock=clock) as stage:
        scene = Scene(
            tables=stage.tables,
            classifier=stage.classifier,
            overlay=Overlay(stage.picture.ledger),
            evictable=stage.picture.evictable,
            groups=stage.picture.groups,
            clock=clock,
        )
        for name, pod in _pods(stage.picture.waiting[0]):
            explained: list[Explained] = []
            slowest[name] = wall_s(partial(_explain, pod, scene, explained))
            assert not explained[0].fits, name
    name = max(slowest, key=lambda each: slowest[each])
    how = ", ".join(f"{each} {seconds:.2f}" for each, seconds in slowest.items())
    yield Figure(f"{NODES:,} nodes", slowest[name], "s", how)


def _explain(pod: Pod, scene: Scene, explained: list[Explained]) -> None:
    explained.append(explain(pod, scene))


def _pods(first: Pod) -> Iterator[tuple[str, Pod]]:
    """Yield pods that fit nowhere, each for another reason."""
    yield "memory", _asking(first, gpumem=78_123)
    yield "more than any card", _asking(first, gpumem=90_000)
    yield "cores and memory", _asking(first, gpumem=70_000, gpucores=100)
    yield "cards", _asking(first, gpu=9, gpumem=1_000)
    labels = (*first.spec.node_selector, ("disk", "fast"), ("kubernetes.io/arch", "arm64"))
    kept = replace(first.spec, node_selector=labels)
    yield "labels", replace(first, spec=kept)
    wanted = _asking(first, gpumem=70_000)
    yield "priority", replace(wanted, spec=replace(wanted.spec, priority=1000))


def _asking(pod: Pod, **amounts: int) -> Pod:
    def edit(container: Container) -> Container:
        limits, requests = container.limits, container.requests
        for name, amount in amounts.items():
            limits = put(limits, f"nvidia.com/{name}", of(amount))
            requests = put(requests, f"nvidia.com/{name}", of(amount))
        return replace(container, limits=limits, requests=requests)

    return edited(pod, edit)
