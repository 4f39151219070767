"""How long do all filter rules take for one pod, and the sentence if no node takes it?

1,000 and 5,000 nodes with 30 pods each in 100 kinds. A pod that asks nothing of others is judged from
scratch. One that is spread, affine and averse to others is asked again after a pod has been placed,
as each pod of its class is after the first one.
"""

from collections.abc import Iterator
from itertools import count

import numpy as np

from bench import records
from bench.figure import Figure, cpu_s
from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm, label_selector
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.fit_error import fit_error
from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.ledger import Ledger
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod, PodSpec

KINDS = 100
PODS_A_NODE = 30
ROUNDS = 200
ZONES = ("zone-0", "zone-1", "zone-2")
KEYS = frozenset({"app"})
CLASSIFY = Classifier({}, keys=KEYS).classify


def measure() -> Iterator[Figure]:
    """Yield milliseconds a pod on 1,000 and on 5,000 nodes, and what comes after."""
    ledger = _ledger(5_000)
    yield from _judged(_ledger(1_000))
    yield from _judged(ledger)
    took_s, told = _told_s(ledger)
    yield Figure("the sentence, 5,000 nodes", took_s * 1e3, "ms", told)
    took_s = _taken_back_s(ledger)
    yield Figure("fork, hold, revert", took_s * 1e6, "us", "a pod that others ask about")


def _judged(ledger: Ledger) -> Iterator[Figure]:
    nodes, pods = ledger.count, len(ledger.holdings)
    took_s = _alone_s(ledger)
    yield Figure(f"a pod alone, {nodes:,} nodes", took_s * 1e3, "ms", "a class never seen")
    took_s = _together_s(ledger)
    how = f"after each placement, among {pods:,} pods"
    yield Figure(f"a pod among others, {nodes:,} nodes", took_s * 1e3, "ms", how)


def _ledger(nodes: int) -> Ledger:
    """Return a cluster whose pods keep their distance, are drawn to each other, or neither."""
    running = []
    for kind in range(KINDS):
        # Every tenth kind keeps others away, the first one the pod that is asked about later.
        others = (_term(HOSTNAME_LABEL, f"app-{kind + 1}"),) if kind % 10 == 0 else ()
        neighbours = Neighbours(anti_affinity=others)
        asking = records.spec(requests={"cpu": "50m"}, neighbours=neighbours)
        running += records.pods(
            nodes * PODS_A_NODE // KINDS,
            asking,
            name=f"kind-{kind}",
            labels={"app": f"app-{kind}"},
        )
    there = records.nodes(nodes, zones=ZONES)
    return records.ledger(there, records.one_a_node(running, nodes), KEYS, {})


def _alone_s(ledger: Ledger) -> float:
    """Return what each of many different pods takes that ask nothing of others."""
    framework, rows = Framework(), np.arange(ledger.count)
    asks = [ask_of(_unlike_any(number)) for number in range(ROUNDS)]

    def judge() -> None:
        for ask in asks:
            framework.evaluate(framework.prepare(ask, ledger), ledger, rows)

    return cpu_s(judge, repeat=5) / len(asks)


def _together_s(ledger: Ledger) -> float:
    """Return what a pod takes that looks at others, each time after one was placed."""
    tables, pod_class = Tables(ledger, Framework(), {}), CLASSIFY(_sociable())
    row = int(tables.candidates(pod_class)[0])
    numbers = count()

    def place_and_look() -> None:
        for _ in range(ROUNDS):
            ledger.hold(holding(f"new-{next(numbers)}", pod_class, Placement(row=row)))
            tables.table(pod_class)

    took_s = cpu_s(place_and_look, repeat=5) / ROUNDS
    for number in range(next(numbers)):
        ledger.release(f"new-{number}")
    return took_s


def _told_s(ledger: Ledger) -> tuple[float, str]:
    """Return how long it takes to say why no node takes a pod, once that is known."""
    tables = Tables(ledger, Framework(), {})
    pod_class = CLASSIFY(records.pods(1, _wants_too_much())[0])
    assert not len(tables.candidates(pod_class))

    def tell() -> str:
        return fit_error(ledger.count, tables.histogram(pod_class, below=ledger.count))

    return cpu_s(lambda: [tell() for _ in range(ROUNDS)], repeat=5) / ROUNDS, tell()


def _taken_back_s(ledger: Ledger) -> float:
    """Return what it takes to place one pod and take it back, with the answers that follow."""
    pod_class: PodClass = CLASSIFY(_sociable())
    held, overlay = holding("new", pod_class, Placement(row=0)), Overlay(ledger)

    def rounds() -> None:
        for _ in range(ROUNDS):
            overlay.fork()
            overlay.hold(held)
            overlay.revert()

    return cpu_s(rounds, repeat=20) / ROUNDS


def _unlike_any(number: int) -> Pod:
    """Return a pod whose requests and node affinity no other has."""
    expression = NodeSelectorRequirement(
        key=records.ZONE, operator="In", values=(ZONES[number % 3], f"other-{number}")
    )
    terms = (NodeSelectorTerm(expressions=(expression,)),)
    return records.pods(1, records.spec(requests={"cpu": f"{number + 1}m"}, terms=terms))[0]


def _sociable() -> Pod:
    """Return a pod with a rule of every kind between pods, for which there is a place."""
    spread = SpreadConstraint(
        max_skew=10**6, topology_key=records.ZONE, selector=label_selector({"app": "app-1"})
    )
    neighbours = Neighbours(
        spread=(spread,),
        affinity=(_term(records.ZONE, "app-1"),),
        anti_affinity=(_term(HOSTNAME_LABEL, "app-none"),),
    )
    asking = records.spec(requests={"cpu": "0"}, neighbours=neighbours)
    return records.pods(1, asking, labels={"app": "app-1"})[0]


def _wants_too_much() -> PodSpec:
    field = NodeSelectorRequirement(key=records.ZONE, operator="In", values=ZONES[:2])
    terms = (NodeSelectorTerm(expressions=(field,)),)
    return records.spec(requests={"cpu": "5", "memory": "1Gi"}, terms=terms)


def _term(key: str, app: str) -> AffinityTerm:
    return AffinityTerm(topology_key=key, selector=label_selector({"app": app}))
