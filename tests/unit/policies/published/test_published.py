"""What each published policy thinks of a node, by the table of its rules."""

from functools import partial

import pytest

from springtide.engine.trace import (
    Chance,
    Fragmentation,
    Placing,
    Setting,
    State,
    Stream,
    replayed,
    shape_of,
)
from springtide.engine.trace.typical import typical_pods
from springtide.model.trace import TraceNode, TracePod
from springtide.policies.published import PUBLISHED
from springtide.policies.published.fgd import Fgd
from tests.traces import in_order, trace_node, trace_pod

CPU_POD = trace_pod(gpus=0, milli=0)
HALF = trace_pod(milli=500)
WHOLE = trace_pod()


class Cluster:
    """One policy on nodes that hold pods already."""

    def __init__(self, policy: str, *nodes: TraceNode, typical: tuple[TracePod, ...] = ()) -> None:
        self.state = State(nodes)
        self.placing: Placing = PUBLISHED[policy](
            Setting(
                state=self.state,
                fragmentation=Fragmentation(typical_pods(typical)),
                rng=Chance(1, Stream.POLICY),
            )
        )

    def hold(self, pod: TracePod, *devices: int, row: int = 0) -> "Cluster":
        self.state.take(row, shape_of(pod), devices)
        self.placing.moved(row)
        return self

    def score(self, pod: TracePod) -> dict[int, float]:
        shape = shape_of(pod)
        scores: dict[int, float] = {}
        rows = self.state.feasible(shape, range(len(self.state.models)))
        self.placing.score(shape, rows, scores)
        return scores

    def devices(self, pod: TracePod, row: int = 0) -> tuple[int, ...]:
        return self.placing.devices(shape_of(pod), row)


def test_best_fit_prefers_what_leaves_least() -> None:
    nodes = trace_node("a", cpu=128_000, gpus=8), trace_node("b", cpu=64_000, gpus=2)
    cluster = Cluster("bestfit", *nodes)

    # 127/128 of CPU and 7/8 of GPUs would be left on the one, 63/128 and 1/8 on the other.
    assert cluster.score(WHOLE) == {0: 6, 1: 69}


def test_the_dot_product_prefers_what_points_elsewhere() -> None:
    nodes = trace_node("a", cpu=128_000, gpus=8), trace_node("b", cpu=64_000, gpus=2)
    pod = trace_pod(cpu=64_000, gpus=2)

    assert Cluster("dotprod", *nodes).score(pod) == {0: 62, 1: 84}


@pytest.mark.parametrize(
    ("gpus", "held", "pod", "score"),
    [
        (1, [], WHOLE, 32),
        (8, [], WHOLE, 25),
        (2, [], CPU_POD, 0),
        (2, [(HALF, 0)], WHOLE, 49),
        (4, [(HALF, 0)], trace_pod(gpus=2), 48),
        (2, [(HALF, 0)], HALF, 95),
        (2, [(trace_pod(milli=999), 0), (trace_pod(milli=100), 1)], trace_pod(milli=100), 91),
        (2, [(trace_pod(milli=999), 0), (trace_pod(milli=100), 1)], trace_pod(milli=1), 100),
    ],
)
def test_packing_prefers_gpus_in_use_then_nodes_in_use(
    gpus: int, held: list[tuple[TracePod, int]], pod: TracePod, score: int
) -> None:
    cluster = Cluster("gpu-packing", trace_node(gpus=gpus))
    for each, device in held:
        cluster.hold(each, device)

    assert cluster.score(pod) == {0: score}


@pytest.mark.parametrize(
    ("held", "pod", "score"),
    [
        ([], WHOLE, 25),
        ([(CPU_POD,)], WHOLE, 25),
        ([(WHOLE, 0)], WHOLE, 75 + 3),
        ([(HALF, 0)], WHOLE, 0 + 1),
        ([(HALF, 0), (WHOLE, 1)], WHOLE, 50 + 4),
        ([(HALF, 0)], CPU_POD, 0),
    ],
)
def test_clustering_prefers_nodes_of_the_same_kind(
    held: list[tuple[TracePod, *tuple[int, ...]]], pod: TracePod, score: int
) -> None:
    cluster = Cluster("gpu-clustering", trace_node(gpus=8))
    for each, *devices in held:
        cluster.hold(each, *devices)

    assert cluster.score(pod) == {0: score}


def test_parts_go_to_the_smallest_free_part_that_suffices() -> None:
    cluster = Cluster("bestfit", trace_node(gpus=4)).hold(HALF, 1).hold(HALF, 3)
    cluster.hold(trace_pod(milli=600), 2)

    assert cluster.devices(HALF) == (1,)
    assert cluster.devices(trace_pod(milli=400)) == (2,)
    assert cluster.devices(WHOLE) == (0,)
    assert cluster.devices(CPU_POD) == ()


def test_whole_gpus_are_the_lowest_idle_ones() -> None:
    cluster = Cluster("fgd", trace_node(gpus=4), typical=(WHOLE,)).hold(HALF, 1)

    assert cluster.devices(trace_pod(gpus=2)) == (0, 2)


def test_descent_prefers_a_node_whose_idle_parts_nobody_could_use() -> None:
    typical = (WHOLE, WHOLE, WHOLE, HALF)
    cluster = Cluster("fgd", trace_node("a"), trace_node("b"), typical=typical)
    cluster.hold(HALF, 1, row=1)

    # On the one a GPU breaks, which three of four asks need whole: 375 milli more are a fragment.
    # On the other a part that they cannot use goes: 375 milli fewer are.
    assert cluster.score(HALF) == {0: 40, 1: 59}
    assert cluster.devices(HALF, row=1) == (1,)


def test_descent_takes_the_lowest_of_equal_gpus() -> None:
    cluster = Cluster("fgd", trace_node(gpus=4), typical=(WHOLE, HALF)).hold(HALF, 1).hold(HALF, 2)

    assert cluster.devices(HALF) == (1,)


def test_a_pod_that_no_typical_one_notices_changes_nothing() -> None:
    assert Cluster("fgd", trace_node(), typical=(WHOLE,)).score(CPU_POD) == {0: 50}


def test_what_descent_remembers_is_bounded_and_changes_nothing() -> None:
    pods = [trace_pod(f"p{index:02}", milli=100 + index, cpu=index) for index in range(40)]
    workload = in_order([trace_node("a"), trace_node("b", gpus=8)], pods)
    free = replayed(workload, PUBLISHED["fgd"], rng=Chance(1, Stream.POLICY))

    bounded = replayed(
        workload,
        partial(Fgd, entries_max=3),
        rng=Chance(1, Stream.POLICY),
        fragmentation=Fragmentation(workload.typical, entries_max=3),
    )

    assert bounded.nodes.tolist() == free.nodes.tolist()
    assert bounded.devices == free.devices
    assert bounded.frag_milli.tolist() == free.frag_milli.tolist()


def test_random_draws_nodes_and_gpus_that_take_the_pod() -> None:
    nodes = [trace_node(f"n{index}", gpus=8, cpu=200_000) for index in range(4)]
    pods = [trace_pod(f"p{index:03}", milli=100) for index in range(200)]

    run = replayed(in_order(nodes, pods), PUBLISHED["random"], rng=Chance(1, Stream.POLICY))

    assert run.failed == 0
    assert set(run.nodes.tolist()) == {0, 1, 2, 3}
    assert {device for devices in run.devices for device in devices} == set(range(8))
    assert run.nodes.tolist() != sorted(run.nodes.tolist())


def test_random_gives_whole_gpus_in_their_order() -> None:
    cluster = Cluster("random", trace_node(gpus=4)).hold(HALF, 0)

    assert cluster.devices(trace_pod(gpus=2)) == (1, 2)
    assert cluster.devices(CPU_POD) == ()


def test_a_pod_that_fits_nowhere_fails_under_random_too() -> None:
    workload = in_order([trace_node()], [trace_pod(gpus=8)])

    run = replayed(workload, PUBLISHED["random"], rng=Chance(1, Stream.POLICY))

    assert run.nodes.tolist() == [-1]


@pytest.mark.parametrize(
    ("policy", "first", "device"),
    [("hami-binpack", 1, 1), ("hami-default", 1, 0), ("hami-spread", 0, 0)],
)
def test_hami_packs_or_spreads_nodes_and_devices(policy: str, first: int, device: int) -> None:
    cluster = Cluster(policy, trace_node("a"), trace_node("b")).hold(trace_pod(milli=100), 1, row=1)

    scores = cluster.score(HALF)

    assert max(scores, key=lambda row: (scores[row], -row)) == first
    assert cluster.devices(HALF, row=1) == (device,)


def test_a_node_without_gpus_is_the_emptiest_to_hami() -> None:
    cluster = Cluster("hami-binpack", trace_node("a", gpus=0), trace_node("b")).hold(HALF, 0, row=1)

    scores = cluster.score(CPU_POD)

    assert scores[0] == 0 < scores[1]


def test_a_device_of_hami_has_ten_slots() -> None:
    cluster = Cluster("hami-binpack", trace_node(gpus=1))
    for _ in range(9):
        cluster.hold(trace_pod(milli=10), 0)
    assert cluster.score(HALF).keys() == {0}

    cluster.hold(trace_pod(milli=10), 0)

    assert cluster.score(HALF) == {}
    assert cluster.score(CPU_POD).keys() == {0}
