"""The rules between pods say of every node what the plain ones say, also after many changes."""

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from springtide.base.selectors import LabelSelector, LabelSelectorRequirement, label_selector
from springtide.base.taints import Taint
from springtide.engine.framework.ask import ask_of, keys_read
from springtide.engine.framework.framework import PASSES, Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.model.ledger import Holding, Ledger
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod, PodSpec
from springtide.model.presence import standing
from springtide.model.refusal import Refusal
from tests.builders import resources, term
from tests.reference import framework as reference

NAMES = [f"n{index}" for index in range(5)]
NAMESPACES = {"default": {}, "team": {"kind": "team"}}
KEYS = st.sampled_from(["zone", "rack", HOSTNAME_LABEL])
VALUES = st.sampled_from(["a", "b"])
LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), VALUES, max_size=2)
EXPRESSIONS = st.one_of(
    st.builds(
        LabelSelectorRequirement,
        key=st.sampled_from(["app", "tier"]),
        operator=st.sampled_from(["In", "NotIn"]),
        values=st.lists(VALUES, min_size=1, max_size=2).map(tuple),
    ),
    st.builds(
        LabelSelectorRequirement,
        key=st.sampled_from(["app", "tier"]),
        operator=st.sampled_from(["Exists", "DoesNotExist"]),
    ),
)
SELECTORS: st.SearchStrategy[LabelSelector] = st.builds(
    label_selector,
    st.dictionaries(st.just("app"), VALUES, max_size=1),
    st.just(()) | st.lists(EXPRESSIONS, max_size=1),
)
SPREADS = st.builds(
    SpreadConstraint,
    max_skew=st.integers(1, 2),
    topology_key=KEYS,
    is_hard=st.sampled_from([True, True, False]),
    selector=st.none() | SELECTORS,
    domains_min=st.integers(1, 3),
    honors_affinity=st.booleans(),
    honors_taints=st.booleans(),
    match_label_keys=st.sampled_from([(), ("tier",)]),
)
TERMS = st.builds(
    AffinityTerm,
    topology_key=KEYS,
    selector=st.none() | SELECTORS | SELECTORS,
    namespaces=st.sampled_from([(), (), ("team",), ("gone", "team")]),
    namespace_selector=st.sampled_from(
        [None, None, label_selector({}), label_selector({"kind": "team"})]
    ),
)
NEIGHBOURS = st.builds(
    Neighbours,
    spread=st.lists(SPREADS, max_size=2).map(tuple),
    affinity=st.just(()) | st.lists(TERMS, max_size=2).map(tuple),
    anti_affinity=st.just(()) | st.lists(TERMS, max_size=2).map(tuple),
)
PODS = st.builds(
    Pod,
    namespace=st.sampled_from(["default", "default", "team", "gone"]),
    name=st.just("pending"),
    uid=st.just("pending"),
    labels=LABELS,
    is_terminating=st.sampled_from([False, False, True]),
    spec=st.builds(
        PodSpec,
        neighbours=NEIGHBOURS,
        required_node_terms=st.sampled_from([None, None, (term("zone", "In", "a"),)]),
    ),
)
NODES = st.builds(
    lambda zone, rack, name, taints: Node(
        name="",
        labels={
            key: value
            for key, value in (("zone", zone), ("rack", rack), (HOSTNAME_LABEL, name))
            if value
        },
        taints=taints,
        allocatable=resources({"pods": 99}),
    ),
    st.sampled_from(["a", "b", "c", ""]),
    st.sampled_from(["a", ""]),
    st.sampled_from(["named", "named", ""]),
    st.sampled_from([(), (), (Taint(key="gpu"),)]),
)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Node], list[Pod]]:
    """Draw some nodes and the pods that run on them."""
    nodes = [
        _named(draw(NODES), name) for name in NAMES[: draw(st.integers(min_value=1, max_value=5))]
    ]
    running = [
        _on(draw(PODS), draw(st.sampled_from(nodes)).name, f"running-{index}")
        for index in range(draw(st.integers(0, 8)))
    ]
    return nodes, running


def _named(node: Node, name: str) -> Node:
    labels = {key: name if key == HOSTNAME_LABEL else each for key, each in node.labels.items()}
    return Node(name=name, labels=labels, taints=node.taints, allocatable=node.allocatable)


def _on(pod: Pod, node: str, uid: str) -> Pod:
    return Pod(
        namespace=pod.namespace,
        name=uid,
        uid=uid,
        labels=pod.labels,
        is_terminating=pod.is_terminating,
        spec=pod.spec,
        node_name=node,
    )


def ledger_of(nodes: list[Node], running: list[Pod]) -> Ledger:
    ledger = Ledger()
    ledger.namespaces = NAMESPACES
    for node in nodes:
        ledger.add_node(node)
    for each in running:
        ledger.hold(_holding(each, ledger))
    return ledger


def _holding(pod: Pod, ledger: Ledger) -> Holding:
    row = ledger.rows[pod.node_name]
    return Holding(uid=pod.uid, row=row, amounts=(("pods", 1),), presence=standing(pod))


@settings(max_examples=300)
@given(clusters(), PODS)
def test_columns_agree_with_one_node_at_a_time(
    cluster: tuple[list[Node], list[Pod]], pending: Pod
) -> None:
    nodes, running = cluster
    framework, ledger = Framework(), ledger_of(nodes, running)
    expected = reference.verdicts(pending, nodes, running, FrameworkConfig(), namespaces=NAMESPACES)

    prepared = framework.prepare(ask_of(pending, with_identity=True), ledger)
    verdicts = framework.evaluate(prepared, ledger, np.arange(ledger.count))

    for node, code, bits, is_final in zip(
        nodes,
        verdicts.rule.tolist(),
        verdicts.detail.tolist(),
        verdicts.unresolvable.tolist(),
        strict=True,
    ):
        refusal = None if code == PASSES else framework.refusal(prepared, code, bits, is_final)
        event("passes" if refusal is None else refusal.text)
        assert _status(refusal) == expected[node.name]
    ledger.check()


@settings(max_examples=150)
@given(clusters(), st.lists(PODS, min_size=1, max_size=3), st.data())
def test_tables_follow_pods_that_come_and_go(
    cluster: tuple[list[Node], list[Pod]], pending: list[Pod], data: st.DataObject
) -> None:
    nodes, running = cluster
    overlay = Overlay(ledger_of(nodes, running))
    tables = Tables(overlay.ledger, Framework(), {})
    specs = [each.spec for each in (*pending, *running)]
    classifier = Classifier({}, keys=keys_read(specs) or frozenset())
    placed: list[list[Pod]] = [[]]

    for _ in range(data.draw(st.integers(1, 6))):
        match data.draw(st.sampled_from(["fork", "revert", "commit", "hold", "hold", "look"])):
            case "fork":
                overlay.fork()
                placed.append(list(placed[-1]))
            case "revert" if overlay.depth:
                overlay.revert()
                placed.pop()
            case "commit" if overlay.depth:
                overlay.commit()
                placed[-2:] = [placed[-1]]
            case "look":
                tables.table(classifier.classify(data.draw(st.sampled_from(pending))))
            case _:
                number = sum(map(len, placed))
                pod = data.draw(PODS)
                here = _on(pod, data.draw(st.sampled_from(nodes)).name, f"new-{number}")
                if here.uid not in overlay.ledger.holdings:
                    overlay.hold(_holding(here, overlay.ledger))
                    placed[-1].append(here)

    for each in pending:
        pod_class = classifier.classify(each)
        pods = [*running, *placed[-1]]
        if keys_read(pod.spec for pod in pods) != keys_read(pod.spec for pod in running):
            # What was placed reads labels that the classes may lack.
            pod_class = Classifier({}, keys=frozenset({"app", "tier"})).classify(each)
        expected = reference.verdicts(each, nodes, pods, FrameworkConfig(), namespaces=NAMESPACES)
        for row, node in enumerate(nodes):
            answer = tables.place(pod_class, row)
            refusal = answer if isinstance(answer, Refusal) else None
            assert _status(refusal) == expected[node.name]
    overlay.ledger.check()


def _status(refusal: Refusal | None) -> reference.Status | None:
    if refusal is None:
        return None
    return refusal.rule, refusal.is_unresolvable, refusal.reasons
