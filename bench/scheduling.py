"""How many pods a second find a node, on the clusters of kube-scheduler's own benchmark?

The shapes are those of its performance suite: 5,000 nodes of 4 cores, some pods that are there, and
the pods that are measured, which come one by one. Each goes to the first node that takes it and is
there when the next one asks; one that fits nowhere is told why. A second figure is for pods that go to
the node which all score plugins together like best, of all that fit and not of a sample of them. There
is no API server here. Beside each rate stands what kube-scheduler's continuous integration asks of it.
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
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.engine.scoring.ask import ScoreAsk, score_ask_of
from springtide.engine.scoring.scoring import Scoring
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Pod, PodSpec

GPU = "example.com/gpu"
PREFERRED = "PreferredTopologySpreading"
COLOR = frozenset({"color"})
SCORED = 1_000
"""So many pods of each shape are scored, which takes its time."""
TEAMS: Mapping[str, Mapping[str, str]] = {f"team-{n}": {"team": "devops"} for n in range(100)}


class Shape(NamedTuple):
    """A cluster and what comes; `asks` is how many pods a second kube-scheduler must place."""

    name: str
    asks: int
    nodes: list[Node]
    there: list[Pod]
    measured: list[Pod]


Choose = Callable[["Cluster", Pod, PodClass], int | None]


class Cluster:
    """A shape while its pods are placed."""

    def __init__(self, shape: Shape, keys: frozenset[str] | None) -> None:
        self.ledger = records.ledger(shape.nodes, shape.there, keys, TEAMS)
        self.tables = Tables(self.ledger, Framework(), {})
        self.classify = Classifier({}, keys=keys).classify
        self.scoring = Scoring()

    def place(self, pod: Pod, pod_class: PodClass) -> int | None:
        """Return the first row that takes the pod."""
        found = self.tables.first_fit(pod_class, self.tables.candidates(pod_class))
        return None if found is None else found.row

    def place_best(self, pod: Pod, pod_class: PodClass) -> int | None:
        """Return the row that all score plugins together like best."""
        rows = self.tables.candidates(pod_class)
        if not len(rows):
            return None
        return self.scoring.score(_score_ask(pod), self.ledger, rows).best()


def measure() -> Iterator[Figure]:
    """Yield the rate of each shape, on the first node that fits and on the best of them all."""
    for make in SHAPES:
        shape = make()
        if shape.name != PREFERRED:
            keys = keys_read(each.spec for each in (*shape.there, *shape.measured))
            yield _figure(Cluster(shape, keys), shape, choose=Cluster.place)
        some = shape._replace(name=f"{shape.name}, scored", measured=shape.measured[:SCORED])
        # Scores look at pods whatever rules there are.
        yield _figure(Cluster(some, COLOR), some, choose=Cluster.place_best)
        gc.collect()


def _figure(cluster: Cluster, shape: Shape, *, choose: Choose) -> Figure:
    ledger, tables, pods, placed = cluster.ledger, cluster.tables, shape.measured, 0

    def place_all() -> None:
        nonlocal placed
        for pod in pods:
            pod_class = cluster.classify(pod)
            row = choose(cluster, pod, pod_class)
            if row is None:
                fit_error(ledger.count, tables.histogram(pod_class, below=ledger.count))
            else:
                ledger.hold(holding(pod.uid, pod_class, Placement(row=row)))
                placed += 1

    took_s = cpu_s(place_all)
    rate = len(pods) / took_s
    how = (
        f"{rate / shape.asks:.0f} times the {shape.asks} that kube-scheduler must reach; "
        f"{placed:,} of {len(pods):,} placed in {took_s:.2f} s of CPU"
    )
    return Figure(shape.name, rate, "pods/s", how)


_SCORE_ASKS: dict[PodSpec, ScoreAsk] = {}


def _score_ask(pod: Pod) -> ScoreAsk:
    """Return what scores are asked for any pod of this spec."""
    found = _SCORE_ASKS.get(pod.spec)
    return found or _SCORE_ASKS.setdefault(pod.spec, score_ask_of(pod))


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


def _preferred_spreading() -> Shape:
    constraint = SpreadConstraint(
        max_skew=5,
        topology_key=records.ZONE,
        is_hard=False,
        selector=label_selector({"color": "blue"}),
    )
    spec = records.spec(neighbours=Neighbours(spread=(constraint,)))
    measured = records.pods(5_000, spec, name="m", labels={"color": "blue"})
    nodes = records.nodes(zones=["moon-1", "moon-2", "moon-3"])
    return Shape(PREFERRED, 340, nodes, records.one_a_node(records.pods(5_000)), measured)


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
    _preferred_spreading,
    _pod_affinity,
    _pod_anti_affinity,
    _namespace_selector,
    _daemon_set,
    _unschedulable,
    _mixed,
    _extended_resource,
)
