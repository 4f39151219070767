"""How many pods a second find a node, on the clusters of kube-scheduler's own benchmark?

The shapes are those of its performance suite: 5,000 nodes of 4 cores, some pods that are there, and
the pods that are measured, which come one by one. Each goes to the first node that takes it and is
there when the next one asks; one that fits nowhere is told why. There is no API server here and nodes
are not scored. Beside each rate stands what kube-scheduler's continuous integration asks of it.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from bench import records
from bench.figure import Figure, cpu_s
from springtide.base.quantity import parse
from springtide.base.selectors import (
    NodeSelectorRequirement,
    NodeSelectorTerm,
    label_selector,
)
from springtide.engine.framework.ask import keys_read
from springtide.engine.framework.fit_error import fit_error
from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables, holding
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Pod

GPU = "example.com/gpu"
TEAMS: Mapping[str, Mapping[str, str]] = {f"team-{n}": {"team": "devops"} for n in range(100)}


class Shape(NamedTuple):
    """A cluster and what comes; `asks` is how many pods a second kube-scheduler must place."""

    name: str
    asks: int
    nodes: list[Node]
    there: list[Pod]
    measured: list[Pod]


def measure() -> Iterator[Figure]:
    """Yield the rate of each shape."""
    for make in SHAPES:
        shape = make()
        took_s, placed = _run(shape)
        rate = len(shape.measured) / took_s
        how = (
            f"{rate / shape.asks:.0f} times the {shape.asks} that kube-scheduler must reach; "
            f"{placed:,} of {len(shape.measured):,} placed in {took_s:.2f} s of CPU"
        )
        yield Figure(shape.name, rate, "pods/s", how)
        gc.collect()


def _run(shape: Shape) -> tuple[float, int]:
    pods = (*shape.there, *shape.measured)
    keys = keys_read(each.spec for each in pods)
    ledger = records.ledger(shape.nodes, shape.there, keys, TEAMS)
    tables = Tables(ledger, Framework(), {})
    classify = Classifier({}, keys=keys).classify
    placed = 0

    def place_all() -> None:
        nonlocal placed
        for pod in shape.measured:
            pod_class = classify(pod)
            found = tables.first_fit(pod_class, tables.candidates(pod_class))
            if found is None:
                fit_error(ledger.count, tables.histogram(pod_class, below=ledger.count))
            else:
                ledger.hold(holding(pod.uid, pod_class, found))
                placed += 1

    return cpu_s(place_all), placed


# Shapes


def _basic() -> Shape:
    return Shape(
        "SchedulingBasic",
        680,
        records.nodes(),
        records.one_a_node(records.pods(1_000)),
        records.pods(10_000, name="m"),
    )


def _node_affinity() -> Shape:
    expression = NodeSelectorRequirement(key=records.ZONE, operator="In", values=("zone1", "zone2"))
    spec = records.spec(terms=(NodeSelectorTerm(expressions=(expression,)),))
    there, measured = records.pods(5_000, spec), records.pods(10_000, spec, name="m")
    return Shape(
        "NodeAffinity", 220, records.nodes(zones=["zone1"]), records.one_a_node(there), measured
    )


def _topology_spreading() -> Shape:
    constraint = SpreadConstraint(
        max_skew=5, topology_key=records.ZONE, selector=label_selector({"color": "blue"})
    )
    spec = records.spec(neighbours=Neighbours(spread=(constraint,)))
    measured = records.pods(5_000, spec, name="m", labels={"color": "blue"})
    nodes = records.nodes(zones=["moon-1", "moon-2", "moon-3"])
    return Shape("TopologySpreading", 460, nodes, records.one_a_node(records.pods(5_000)), measured)


def _affine(color: str) -> Neighbours:
    return Neighbours(affinity=(_term(records.ZONE, color),))


def _averse(color: str) -> Neighbours:
    return Neighbours(anti_affinity=(_term(HOSTNAME_LABEL, color),))


def _term(key: str, color: str) -> AffinityTerm:
    return AffinityTerm(
        topology_key=key,
        selector=label_selector({"color": color}),
        namespaces=("sched-0", "sched-1"),
    )


def _pod_affinity() -> Shape:
    spec, blue = records.spec(neighbours=_affine("blue")), {"color": "blue"}
    there = records.pods(5_000, spec, labels=blue, namespace="sched-0")
    measured = records.pods(5_000, spec, name="m", labels=blue, namespace="sched-1")
    return Shape(
        "PodAffinity", 35, records.nodes(zones=["zone1"]), records.one_a_node(there), measured
    )


def _pod_anti_affinity() -> Shape:
    spec, green = records.spec(neighbours=_averse("green")), {"color": "green"}
    there = records.pods(1_000, spec, labels=green, namespace="sched-0")
    measured = records.pods(2_000, spec, name="m", labels=green, namespace="sched-1")
    return Shape("PodAntiAffinity", 60, records.nodes(), records.one_a_node(there), measured)


def _namespace_selector() -> Shape:
    term = AffinityTerm(
        topology_key=HOSTNAME_LABEL,
        selector=label_selector({"color": "green"}),
        namespace_selector=label_selector({"team": "devops"}),
    )
    spec = records.spec(neighbours=Neighbours(anti_affinity=(term,)))
    there = [
        pod
        for team in TEAMS
        for pod in records.pods(40, spec, name=team, labels={"color": "green"}, namespace=team)
    ]
    measured = records.pods(1_000, spec, name="m", labels={"color": "green"}, namespace="team-0")
    name = "RequiredPodAntiAffinityWithNSSelector"
    return Shape(name, 24, records.nodes(), records.one_a_node(there), measured)


def _daemon_set() -> Shape:
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=("large",))
    spec = records.spec(terms=(NodeSelectorTerm(fields=(field,)),), requests={})
    large = Node(name="large", allocatable=(("pods", parse("90000")),))
    nodes = [*records.nodes(15_000), large]
    return Shape("SchedulingDaemonset", 1_100, nodes, [], records.pods(30_000, spec, name="m"))


def _unschedulable() -> Shape:
    """Of 10,200 pods every 51st asks for more than any node has."""
    large, measured = (
        records.spec(requests={"cpu": "9", "memory": "500Mi"}),
        records.pods(10_200, name="m"),
    )
    for index in range(0, len(measured), 51):
        measured[index] = replace(measured[index], spec=large)
    return Shape("Unschedulable", 590, records.nodes(), [], measured)


def _mixed() -> Shape:
    there = [
        *records.pods(2_000, name="base"),
        *records.pods(
            2_000,
            records.spec(neighbours=_affine("blue")),
            name="near",
            labels={"color": "blue"},
            namespace="sched-0",
        ),
        *records.pods(
            2_000,
            records.spec(neighbours=_averse("green")),
            name="away",
            labels={"color": "green"},
            namespace="sched-0",
        ),
    ]
    nodes = records.nodes(zones=["zone1"])
    return Shape(
        "MixedSchedulingBasePod",
        140,
        nodes,
        records.one_a_node(there),
        records.pods(5_000, name="m"),
    )


def _extended_resource() -> Shape:
    spec = records.spec(requests={GPU: "1"})
    nodes = records.nodes(others={GPU: "4"})
    return Shape("ExtendedResource", 180, nodes, [], records.pods(10_000, spec, name="m"))


SHAPES: Sequence[Callable[[], Shape]] = (
    _basic,
    _node_affinity,
    _topology_spreading,
    _pod_affinity,
    _pod_anti_affinity,
    _namespace_selector,
    _daemon_set,
    _unschedulable,
    _mixed,
    _extended_resource,
)
