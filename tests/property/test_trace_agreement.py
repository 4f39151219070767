"""Incremental replays place every pod where the plain rules do, and never more than there is."""

import math

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.trace import Chance, Replay, Stream, Workload, seeded
from springtide.engine.trace.state import PODS_MAX
from springtide.model.trace import TraceNode, TracePod
from springtide.policies.published import PUBLISHED
from tests.reference.trace import World

MODELS = ("A", "B")
NODES = st.builds(
    TraceNode,
    name=st.just(""),
    cpu_milli=st.sampled_from([2000, 4000, 64000]),
    memory_mib=st.sampled_from([8, 100]),
    gpus=st.sampled_from([0, 1, 2, 4, 8]),
    model=st.sampled_from(MODELS),
)
GPUS = st.one_of(
    st.just((0, 0)),
    st.tuples(st.just(1), st.sampled_from([1, 50, 250, 300, 500, 999])),
    st.tuples(st.sampled_from([1, 1, 2, 4, 8]), st.just(1000)),
)
SHAPES = st.builds(
    lambda gpus, **rest: TracePod(gpus=gpus[0], gpu_milli=gpus[1], **rest),
    gpus=GPUS,
    name=st.just(""),
    cpu_milli=st.sampled_from([0, 1, 500, 2000]),
    memory_mib=st.sampled_from([0, 1, 8]),
    models=st.sampled_from([(), (), ("A",), ("A", "B"), ("C",)]),
)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Draw a few nodes, at least one with a GPU, and pods of a few shapes, each often."""
    gpu_node = draw(NODES.filter(lambda node: node.gpus > 0))
    nodes = [gpu_node, *draw(st.lists(NODES, max_size=5))]
    shapes = draw(st.lists(SHAPES, min_size=1, max_size=5))
    pods = draw(st.lists(st.sampled_from(shapes), min_size=1, max_size=40))
    return seeded(
        [replace(node, name=f"n{index}") for index, node in enumerate(nodes)],
        [replace(pod, name=f"p{index}") for index, pod in enumerate(pods)],
        seed=draw(st.integers(0, 9)),
        tune=0,
    )


@pytest.mark.parametrize("policy", sorted(PUBLISHED))
@given(workload=workloads())
@settings(max_examples=60)
def test_a_replay_places_each_pod_as_the_plain_rules_do(policy: str, workload: Workload) -> None:
    replay = Replay(workload, PUBLISHED[policy], rng=Chance(7, Stream.POLICY))
    world = World(workload.nodes, workload.typical, Chance(7, Stream.POLICY))
    frag_milli = []

    for index in workload.arrivals:
        found = replay.place()

        assert found == world.place(workload.pods[index], policy)
        assert_invariants(replay, workload)
        labels = world.cluster_labels()
        frag_milli.append(math.fsum(labels.values()) - labels["q3"])

    run = replay.run()
    event(f"failed: {run.failed > 0}")
    assert run.frag_milli.tolist() == pytest.approx(frag_milli, abs=1e-6)
    assert run.labels == pytest.approx(world.cluster_labels(), abs=1e-6)
    idle_milli = run.capacity.gpu_milli - int(run.used_milli[-1])
    assert sum(run.labels.values()) == pytest.approx(idle_milli, abs=1e-6)
    assert sum(run.failed_by_class.values()) == run.failed
    assert run.failed + int((run.nodes >= 0).sum()) == run.arrived


def assert_invariants(replay: Replay, workload: Workload) -> None:
    """No GPU below nothing or above one, no node over what it has, and sums that agree."""
    state = replay.state
    for row, node in enumerate(workload.nodes):
        assert 0 <= state.cpu_free[row] <= node.cpu_milli
        assert 0 <= state.memory_free[row] <= node.memory_mib
        assert 0 <= state.slots_free[row] <= PODS_MAX
        assert all(0 <= free <= 1000 for free in state.gpus_free[row])
        assert state.total_free[row] == sum(state.gpus_free[row])
        assert state.idle[row] == state.gpus_free[row].count(1000)
        assert state.largest_free[row] == max(state.gpus_free[row], default=0)
