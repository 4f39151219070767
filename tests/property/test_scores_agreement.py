"""Columnar scores say of every node what the plain ones say, also after pods have come and gone."""

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from springtide.base import quantity
from springtide.base.selectors import LabelSelector, NodeSelectorTerm, label_selector
from springtide.base.taints import Taint, Toleration
from springtide.engine.placement.classes import standing_holding
from springtide.engine.scoring.ask import score_ask_of
from springtide.engine.scoring.config import ScoringConfig
from springtide.engine.scoring.scoring import Scores, Scoring
from springtide.model.columns import Int64
from springtide.model.ledger import Ledger
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Image, Node
from springtide.model.overlay import Overlay
from springtide.model.plugin_arguments import (
    CapacityRatio,
    ResourceSpec,
    ScoringStrategy,
    ShapePoint,
)
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.preferences import Preferences, PreferredNodes, PreferredPods
from springtide.model.presence import standing
from springtide.model.resources import Resources
from tests.builders import term
from tests.reference import scores as reference

NAMES = [f"n{index}" for index in range(5)]
NAMESPACES = {"default": {}, "team": {"kind": "team"}}
KEYS = st.sampled_from(["zone", "rack", HOSTNAME_LABEL])
SELECTORS = st.sampled_from(
    [label_selector({"app": "a"}), label_selector({"app": "b"}), LabelSelector(), None]
)
WEIGHTS = st.integers(1, 100)


def quantities(amounts: dict[str, str]) -> Resources:
    return tuple((name, quantity.parse(text)) for name, text in sorted(amounts.items()))


AMOUNTS = st.sampled_from(["0", "1", "2", "3", "700m", "100Mi", "1Gi"])
REQUESTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "ephemeral-storage", "example.com/gpu"]), AMOUNTS, max_size=3
).map(quantities)
CONTAINERS = st.builds(Container, name=st.just("c"), requests=REQUESTS)
TERMS = st.builds(
    AffinityTerm,
    topology_key=KEYS,
    selector=SELECTORS,
    namespaces=st.sampled_from([(), (), ("team",)]),
    namespace_selector=st.sampled_from(
        [None, None, label_selector({}), label_selector({"kind": "team"})]
    ),
)
LIKED_PODS = st.lists(st.builds(PreferredPods, WEIGHTS, TERMS), max_size=2).map(tuple)
LIKED_NODES = st.lists(
    st.builds(
        PreferredNodes,
        WEIGHTS,
        st.sampled_from(
            [
                term("zone", "In", "a"),
                term("rack", "Exists"),
                term(HOSTNAME_LABEL, "NotIn", "n0"),
                NodeSelectorTerm(),
            ]
        ),
    ),
    max_size=2,
).map(tuple)
IMAGE_NAMES = ["app:1", "app", "registry:5000/app", "other@sha256:1"]
SPREADS = st.builds(
    SpreadConstraint,
    max_skew=st.integers(1, 3),
    topology_key=KEYS,
    is_hard=st.sampled_from([False, False, False, True]),
    selector=SELECTORS,
    honors_affinity=st.booleans(),
    honors_taints=st.booleans(),
    match_label_keys=st.sampled_from([(), ("tier",)]),
)
PODS = st.builds(
    Pod,
    namespace=st.sampled_from(["default", "default", "team", "gone"]),
    name=st.just("pending"),
    uid=st.just("pending"),
    labels=st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from("ab"), max_size=2),
    is_terminating=st.sampled_from([False, False, False, True]),
    spec=st.builds(
        PodSpec,
        containers=st.lists(CONTAINERS, min_size=1, max_size=2).map(tuple),
        init_containers=st.lists(CONTAINERS, max_size=1).map(tuple),
        requests=st.sampled_from([(), (), quantities({"cpu": "1"}), quantities({"memory": "1Gi"})]),
        overhead=st.sampled_from([(), (), quantities({"cpu": "50m"})]),
        required_node_terms=st.sampled_from([None, None, (term("zone", "In", "a"),)]),
        tolerations=st.sampled_from([(), (Toleration(key="soft", operator="Exists"),)]),
        neighbours=st.builds(
            Neighbours,
            spread=st.just(()) | st.lists(SPREADS, max_size=2).map(tuple),
            affinity=st.just(()) | st.lists(TERMS, max_size=2).map(tuple),
        ),
    ),
    preferences=st.builds(
        Preferences,
        nodes=LIKED_NODES,
        near=st.just(()) | LIKED_PODS,
        away=st.just(()) | LIKED_PODS,
        images=st.lists(
            st.sampled_from(["app", "app:1", "other@sha256:1", "gone"]), max_size=3
        ).map(tuple),
    ),
)
NODES = st.builds(
    lambda zone, rack, taints, allocatable, images: Node(
        name="",
        labels={key: value for key, value in (("zone", zone), ("rack", rack)) if value},
        taints=taints,
        allocatable=allocatable,
        images=images,
    ),
    st.sampled_from(["a", "b", "c", ""]),
    st.sampled_from(["a", ""]),
    st.lists(
        st.builds(
            Taint,
            key=st.sampled_from(["soft", "other"]),
            effect=st.sampled_from(["PreferNoSchedule", "PreferNoSchedule", "NoSchedule"]),
        ),
        max_size=2,
    ).map(tuple),
    st.fixed_dictionaries(
        {
            "cpu": st.sampled_from(["0", "4", "8"]),
            "memory": st.sampled_from(["4Gi", "8Gi"]),
            "example.com/gpu": st.sampled_from(["0", "4"]),
        }
    ).map(quantities),
    st.lists(
        st.builds(
            lambda name, size: Image((name,), size * 2**20),
            st.sampled_from([*IMAGE_NAMES, "app:latest"]),
            st.sampled_from([10, 300, 5000]),
        ),
        max_size=3,
    ).map(tuple),
)
RESOURCES = st.lists(
    st.builds(
        ResourceSpec, st.sampled_from(["cpu", "memory", "example.com/gpu"]), st.integers(1, 5)
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda each: each.name,
).map(tuple)
SHAPES = st.sampled_from(
    [
        (ShapePoint(0, 10), ShapePoint(100, 0)),
        (ShapePoint(10, 0), ShapePoint(40, 8), ShapePoint(90, 3)),
    ]
)
CONFIGS = st.builds(
    ScoringConfig,
    strategy=st.builds(
        ScoringStrategy,
        st.sampled_from(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]),
        RESOURCES,
        st.builds(CapacityRatio, SHAPES),
    ),
    balanced=RESOURCES,
    preferred_nodes=st.just(()) | LIKED_NODES,
    required_affinity_weight=st.sampled_from([0, 1, 50]),
    ignores_preferences_of_others=st.booleans(),
)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Node], list[Pod]]:
    """Draw some nodes and the pods that run on them."""
    nodes = [_named(draw(NODES), name) for name in NAMES[: draw(st.integers(1, 5))]]
    running = [
        _on(draw(PODS), draw(st.sampled_from(nodes)).name, f"running-{index}")
        for index in range(draw(st.integers(0, 8)))
    ]
    return nodes, running


def _named(node: Node, name: str) -> Node:
    return Node(
        name=name,
        labels={**node.labels, HOSTNAME_LABEL: name},
        taints=node.taints,
        allocatable=node.allocatable,
        images=node.images,
    )


def _on(pod: Pod, node: str, uid: str) -> Pod:
    return Pod(
        namespace=pod.namespace,
        name=uid,
        uid=uid,
        labels=pod.labels,
        is_terminating=pod.is_terminating,
        spec=pod.spec,
        preferences=pod.preferences,
        node_name=node,
    )


def ledger_of(nodes: list[Node]) -> Ledger:
    ledger = Ledger()
    ledger.namespaces = NAMESPACES
    for node in nodes:
        ledger.add_node(node)
    return ledger


def plain(
    pending: Pod, nodes: list[Node], running: list[Pod], fitting: list[Node], config: ScoringConfig
) -> dict[str, reference.Answer]:
    world = reference.World(
        pod=pending, nodes=nodes, running=running, fitting=fitting, namespaces=NAMESPACES
    )
    return reference.scores(world, config)


def shown(scored: Scores, names: list[str]) -> dict[str, reference.Answer]:
    assert not scored.error
    return {
        each.name: (_by_name(names, each.raw), _by_name(names, each.normalised))
        for each in scored.plugins
        if each.name not in {"VolumeBinding", "DynamicResources"}
    }


def _by_name(names: list[str], column: Int64) -> dict[str, int]:
    return dict(zip(names, column.tolist(), strict=True))


@settings(max_examples=200)
@given(clusters(), PODS, CONFIGS, st.data())
def test_columns_agree_with_one_node_at_a_time(
    cluster: tuple[list[Node], list[Pod]], pending: Pod, config: ScoringConfig, data: st.DataObject
) -> None:
    nodes, running = cluster
    fitting = data.draw(
        st.lists(st.sampled_from(nodes), min_size=1, unique_by=lambda node: node.name)
    )
    fitting.sort(key=lambda node: node.name)
    scoring, overlay = Scoring(config), Overlay(ledger_of(nodes))
    rows = np.array([overlay.ledger.rows[node.name] for node in fitting], np.intp)
    ask = score_ask_of(pending)
    # Answers that were given before are kept up to date.
    asked_early = data.draw(st.integers(0, len(running)))
    for index, each in enumerate(running):
        if index == asked_early:
            scoring.score(ask, overlay.ledger, rows)
            overlay.fork()
        row = overlay.ledger.rows[each.node_name]
        overlay.hold(standing_holding(each, row, presence=standing(each, with_leanings=True)))

    scored = scoring.score(ask, overlay.ledger, rows)

    names = [node.name for node in fitting]
    found = shown(scored, names)
    for name in found:
        event(name)
    assert found == plain(pending, nodes, running, fitting, config)
    overlay.ledger.check()
    while overlay.depth:
        overlay.revert()
        again = shown(scoring.score(ask, overlay.ledger, rows), names)
        assert again == plain(pending, nodes, running[:asked_early], fitting, config)
        overlay.ledger.check()
