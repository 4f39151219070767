"""How long does it take to score all nodes for a pod, on 5,000 nodes with 150,000 pods?

The pod prefers to be spread over nodes and zones and away from its like, as everybody there does.
The first pod of a kind counts all pods; the next ones, with a pod placed in between, matter most.
The plain way judges node after node, and looks at all pods for each, so it gets a smaller cluster.
"""

from collections.abc import Iterator

import numpy as np

from bench.figure import Figure, cpu_s
from springtide.base import quantity
from springtide.base.selectors import label_selector
from springtide.engine.placement.classes import standing_holding
from springtide.engine.scoring.ask import score_ask_of
from springtide.engine.scoring.config import ScoringConfig
from springtide.engine.scoring.scoring import Scoring
from springtide.model.ledger import Ledger
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Image, Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.preferences import Preferences, PreferredPods
from springtide.model.presence import standing
from tests.reference import scores as reference

NODES, APPS, REPLICAS, ZONES, IMAGES = 5_000, 1_500, 100, 3, 50
ROUNDS = 40
PLAIN_NODES = 50
"""The plain way takes minutes for all nodes."""
ZONE = "topology.kubernetes.io/zone"


def measure() -> Iterator[Figure]:
    """Yield milliseconds for the first and next pods of a kind, and what the plain way takes."""
    ledger = _ledger()
    rows = np.arange(ledger.count)
    scoring, overlay = Scoring(), Overlay(ledger)
    pods = [_pod(app, REPLICAS) for app in range(ROUNDS)]
    asks = [score_ask_of(pod) for pod in pods]
    first_s = cpu_s(lambda: [scoring.score(ask, ledger, rows) for ask in asks]) / ROUNDS
    yield Figure("first of a kind", first_s * 1e3, "ms", f"{NODES} nodes, {APPS * REPLICAS} pods")

    def place_and_score() -> None:
        for ask, pod in zip(asks, pods, strict=True):
            overlay.fork()
            found = scoring.score(ask, ledger, rows)
            shown = standing(pod, with_leanings=True)
            overlay.hold(standing_holding(pod, found.best(), presence=shown))
            scoring.score(ask, ledger, rows)
            overlay.revert()

    next_s = cpu_s(place_and_score, repeat=5) / ROUNDS / 2
    count = len(scoring.score(asks[0], ledger, rows).plugins)
    yield Figure("next of a kind", next_s * 1e3, "ms", f"{count} plugins on {NODES} nodes")
    plain_s = _plain_s(pods[0], ledger)
    how = f"{plain_s:.0f} s for {NODES} nodes, in clusters of {PLAIN_NODES}"
    yield Figure("node by node", plain_s / next_s, "times", how)


def _ledger() -> Ledger:
    ledger = Ledger()
    for node in _nodes():
        ledger.add_node(node)
    ledger.hold_all(
        [
            standing_holding(pod, ledger.rows[pod.node_name], presence=shown)
            for app in range(APPS)
            for shown in [standing(_pod(app, 0), with_leanings=True)]
            for pod in (_pod(app, index) for index in range(REPLICAS))
        ]
    )
    return ledger


def _plain_s(pod: Pod, ledger: Ledger) -> float:
    """Return how long the plain way takes for as many nodes, in small clusters that are as full."""
    nodes = ledger.nodes[:PLAIN_NODES]
    share = NODES // PLAIN_NODES
    running = [
        _pod(app, 0, on=nodes[app % PLAIN_NODES].name) for app in range(APPS * REPLICAS // share)
    ]
    world = reference.World(pod=pod, nodes=nodes, running=running, fitting=nodes, namespaces={})
    return cpu_s(lambda: reference.scores(world, ScoringConfig())) * share


def _nodes() -> list[Node]:
    amounts = tuple(
        (name, quantity.parse(text))
        for name, text in (("cpu", "64"), ("memory", "256Gi"), ("pods", "110"))
    )
    return [
        Node(
            name=f"node-{index}",
            labels={HOSTNAME_LABEL: f"node-{index}", ZONE: f"zone-{index % ZONES}"},
            allocatable=amounts,
            images=tuple(
                Image((f"registry/app-{(index + image) % APPS}:1",), (50 + image) * 2**20)
                for image in range(IMAGES)
            ),
        )
        for index in range(NODES)
    ]


_SPECS: dict[int, tuple[PodSpec, Preferences]] = {}


def _pod(app: int, index: int, *, on: str = "") -> Pod:
    spec, preferences = _SPECS.get(app) or _SPECS.setdefault(app, _asked(app))
    name = f"app-{app}-{index}"
    return Pod(
        namespace=f"team-{app % 40}",
        name=name,
        uid=name,
        labels={"app": f"app-{app}"},
        spec=spec,
        preferences=preferences,
        node_name=on or f"node-{(app * 7 + index * 49) % NODES}",
    )


def _asked(app: int) -> tuple[PodSpec, Preferences]:
    selector = label_selector({"app": f"app-{app}"})
    spread = tuple(
        SpreadConstraint(max_skew=1, topology_key=key, is_hard=False, selector=selector)
        for key in (HOSTNAME_LABEL, ZONE)
    )
    requests = (("cpu", quantity.parse(f"{100 + app % 10}m")),)
    liked = AffinityTerm(topology_key=HOSTNAME_LABEL, selector=selector)
    return (
        PodSpec(
            containers=(Container(name="main", requests=requests),),
            neighbours=Neighbours(spread=spread),
        ),
        Preferences(away=(PreferredPods(100, liked),), images=(f"registry/app-{app}:1",)),
    )
