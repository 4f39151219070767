"""How long does it take to say how many new nodes are needed?

50,000 pods in 100 shapes that share cards onto 1,000 new nodes; 10,000 equal pods against 10; and
Cluster Autoscaler's own estimator benchmark (50,000 small and 1,000 larger pods, no devices).
"""

from collections.abc import Iterator

from msgspec.structs import replace

from bench import clusters, world
from bench.figure import Figure, cpu_s
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.base.quantity import parse
from springtide.engine.capacity.batches import Batch, batches
from springtide.engine.capacity.estimate import Estimate, estimate
from springtide.engine.capacity.limits import Limiter, Threshold
from springtide.engine.capacity.start import begin
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.templates import Source, Template
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Container, Pod, PodSpec


def measure() -> Iterator[Figure]:
    """Yield seconds and ratios of the three workloads."""
    many, _ = _devices(pods=50_000, shape_count=100)
    yield Figure("50,000 pods in 100 shapes", many[0], "s", f"{many[1].node_count} new nodes")
    few, lot = _devices(pods=10, shape_count=1)[0], _devices(pods=10_000, shape_count=1)[0]
    how = f"{lot[0] * 1e3:.1f} ms for {lot[1].node_count} nodes, {few[0] * 1e3:.1f} ms for 10 pods"
    yield Figure("10,000 equal pods against 10", lot[0] / few[0], "times", how)
    took_s, answer = _plain()
    how = f"{took_s:.2f} s, {answer.node_count} nodes, {len(answer.placed)} pods"
    yield Figure("no devices, 51,000 pods", 51_000 / took_s, "pods/s", how)


Timed = tuple[float, Estimate]


def _devices(*, pods: int, shape_count: int) -> tuple[Timed, Template]:
    kinds = families(None, Policies())
    dump = clusters.dump(nodes=1, placed=0, pending=pods, shape_count=shape_count, groups=1)
    picture = assemble(world.read(dump, groups=1, max_size=100_000), kinds)
    template = picture.groups[0].template
    assert isinstance(template, Template)
    names = frozenset(name for family in kinds.values() for name in family.resource_names())
    framework = Framework(FrameworkConfig(ignored_resources=names))
    items = batches(picture.waiting, Classifier(kinds))
    tables = Tables(picture.ledger, framework, kinds)
    return _timed(template, tables, items), template


def _plain() -> Timed:
    capacity = (("cpu", parse("1000m")), ("memory", parse("5000")), ("pods", parse("100")))
    node = Node(name="template", capacity=capacity, allocatable=capacity)
    group = NodeGroup(name="group", max_size=3_000)
    template = Template(group=group, node=node, source=Source.INPUT)
    pods = [*_pods("small", 50_000, "50m", "100"), *_pods("large", 1_000, "95m", "190")]
    tables = Tables(Ledger(), Framework(), {})
    return _timed(template, tables, batches(pods, Classifier({})), nodes_max=3_000)


def _pods(name: str, count: int, cpu: str, memory: str) -> list[Pod]:
    requests = (("cpu", parse(cpu)), ("memory", parse(memory)))
    spec = PodSpec(containers=(Container(name="main", requests=requests),))
    first = Pod(namespace="default", name=name, uid=name, spec=spec)
    return [replace(first, name=f"{name}-{n}", uid=f"{name}-{n}") for n in range(count)]


def _timed(template: Template, tables: Tables, items: list[Batch], *, nodes_max: int = 0) -> Timed:
    answers: list[Estimate] = []

    def once() -> None:
        overlay = Overlay(tables.ledger)
        start = begin(template, tables, overlay, [item.pod_class for item in items])
        limiter = Limiter([Threshold(nodes_max)], world.MonotonicClock())
        with overlay.trial():
            answers.append(estimate(items, start, limiter))

    return cpu_s(once, repeat=2), answers[-1]
