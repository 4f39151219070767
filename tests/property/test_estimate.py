"""Laws of the estimator."""

from collections.abc import Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.capacity.estimate import Estimate
from springtide.engine.simulation.templates import Template
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import card, cards, mig_card, node, pod, replicas, term
from tests.estimates import estimated, in_batches, template

# True of every node: it makes the pod's rules look at names without refusing anyone.
ANYWHERE = term("kubernetes.io/hostname", "NotIn", "nobody")

NODES: st.SearchStrategy[Node] = st.builds(
    node,
    cpu=st.sampled_from([1, 4, 8]),
    memory=st.sampled_from(["2Gi", "64Gi"]),
    pods=st.sampled_from([3, 10, 110]),
    others=st.sampled_from([{}, {"example.com/x": 3}]),
    is_unschedulable=st.sampled_from([False, False, False, True]),
)
DEVICES = st.sampled_from(
    [(), (card(),), cards(2), cards(4, memory=10000), (mig_card(),), (mig_card(), card("GPU-1"))]
)
PODS: st.SearchStrategy[Pod] = st.one_of(
    st.builds(
        pod,
        cpu=st.sampled_from(["0", "100m", "300m", "1", "5"]),
        memory=st.sampled_from(["0", "100Mi", "1Gi"]),
        others=st.sampled_from([{}, {}, {"example.com/x": 1}, {"example.com/y": 1}]),
        ports=st.sampled_from([(), (), (80,), (80, 81), (81,)]),
    ),
    st.builds(
        pod,
        cpu=st.sampled_from(["0", "500m"]),
        gpu=st.integers(1, 2),
        gpumem=st.sampled_from([0, 1000, 5000, 9000, 20000, 50000]),
        gpucores=st.sampled_from([0, 30, 100]),
        annotations=st.sampled_from(
            [{}, {"hami.io/gpu-scheduler-policy": "binpack"}, {"nvidia.com/numa-bind": "true"}]
        ),
    ),
)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Template, list[tuple[Pod, ...]]]:
    """Draw a template, perhaps with pods of its own, and batches for its nodes."""
    own = [
        replace(each, name=f"own-{index}", uid=f"own-{index}")
        for index, each in enumerate(draw(st.lists(PODS, max_size=2)))
        if not each.spec.containers[0].limits
    ]
    items = [
        replicas(draw(st.integers(1, 15)), replace(each, name=f"p{index}", uid=f"p{index}"))
        for index, each in enumerate(draw(st.lists(PODS, min_size=1, max_size=5)))
    ]
    return template(draw(NODES), pods=own, devices=draw(DEVICES)), items


def told_apart(items: Sequence[Sequence[Pod]]) -> list[tuple[Pod, ...]]:
    """Return the same pods with a rule that reads node names and refuses none."""
    return [
        tuple(
            replace(each, spec=replace(each.spec, required_node_terms=(ANYWHERE,))) for each in pods
        )
        for pods in items
    ]


def names(answer: Estimate) -> tuple[object, ...]:
    """Return all of an answer that does not show the pods' specs."""
    return (
        [(each.name, [pod.name for pod in each.pods]) for each in answer.nodes],
        [each.name for each in answer.placed],
        [each.name for each in answer.left],
        answer.devices,
        answer.is_limited,
    )


@settings(max_examples=150)
@given(situations(), st.integers(0, 6), st.integers(0, 3), st.integers(0, 3))
def test_packing_equals_placing_one_by_one(
    situation: tuple[Template, list[tuple[Pod, ...]]], nodes_max: int, existing: int, settled: int
) -> None:
    asked, items = situation

    packed = estimated(asked, items, nodes_max=nodes_max, existing=existing, settled=settled)
    stepped = estimated(
        asked, told_apart(items), nodes_max=nodes_max, existing=existing, settled=settled
    )

    assert names(packed) == names(stepped)


@settings(max_examples=60)
@given(situation=situations(), nodes_max=st.integers(0, 6), fastpath=st.booleans())
def test_every_pod_is_either_placed_once_or_left(
    situation: tuple[Template, list[tuple[Pod, ...]]], nodes_max: int, *, fastpath: bool
) -> None:
    asked, items = situation

    answer = estimated(asked, items, nodes_max=nodes_max, fastpath=fastpath)

    everyone = sorted(each.uid for pods in items for each in pods)
    assert sorted(each.uid for each in (*answer.placed, *answer.left)) == everyone
    on_nodes = [each.uid for item in answer.nodes for each in item.pods]
    assert sorted(on_nodes) == sorted(each.uid for each in answer.placed)
    assert all(item.pods for item in answer.nodes)
    assert not nodes_max or answer.node_count <= nodes_max


@settings(max_examples=60)
@given(situation=situations(), fastpath=st.booleans())
def test_the_same_question_gets_the_same_answer(
    situation: tuple[Template, list[tuple[Pod, ...]]], *, fastpath: bool
) -> None:
    asked, items = situation

    assert estimated(asked, items, fastpath=fastpath) == estimated(asked, items, fastpath=fastpath)


@settings(max_examples=60)
@given(situations(), st.randoms(use_true_random=False))
def test_mixing_the_replicas_of_workloads_changes_no_count(
    situation: tuple[Template, list[tuple[Pod, ...]]], chance: Random
) -> None:
    asked, items = situation
    ordered = in_batches([each for pods in items for each in pods])
    # Each batch keeps its place, which is decided by its first pod; everything else is mixed.
    firsts, others = [pods[0] for pods in ordered], [each for pods in ordered for each in pods[1:]]
    chance.shuffle(others)

    mixed = estimated(asked, in_batches([*firsts, *others]))
    plain = estimated(asked, ordered)

    assert mixed.node_count == plain.node_count
    assert len(mixed.placed) == len(plain.placed)
    assert mixed.devices == plain.devices
