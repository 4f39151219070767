"""Order, clones and ranks: what a seed draws, what a recording says, and what cannot be replayed."""

import math
from collections import Counter

import pytest

from springtide.engine.trace import Chance, Stream, UnusableTrace, recorded, seeded
from springtide.engine.trace.tuning import tuned
from springtide.engine.trace.typical import typical_pods
from tests.traces import openb_nodes, openb_pods, openb_recorded, trace_node, trace_pod

NODES = [trace_node(f"n{index}", gpus=4) for index in range(3)]
PODS = [trace_pod(f"p{index}", gpus=index % 2, milli=1000 * (index % 2)) for index in range(8)]
DRAWN = [2802244911, 3011683077, 1662685524, 2819275404]
"""The high halves of SplitMix64 after its own first output, worked out by itself."""


def test_the_generator_draws_the_numbers_of_its_definition() -> None:
    chance = Chance(0, Stream.ORDER)

    drawn = [chance.choice_index(2**32) for _ in range(4)]

    assert drawn == DRAWN


def test_each_index_is_drawn_about_equally_often() -> None:
    chance = Chance(1, Stream.POLICY)

    counts = Counter(chance.choice_index(7) for _ in range(7000))

    assert set(counts) == set(range(7))
    assert max(abs(count - 1000) for count in counts.values()) < 150


def test_numbers_that_would_favour_small_indices_are_drawn_again() -> None:
    chance = Chance(1, Stream.POLICY)
    count = 2**63 + 2**62

    drawn = [chance.choice_index(count) for _ in range(300)]

    assert all(index < count for index in drawn)
    assert 60 < sum(index < count // 3 for index in drawn) < 140


def test_streams_and_seeds_are_independent() -> None:
    sources = [Chance(seed, stream) for seed in (1, 2) for stream in Stream]

    assert len({source.choice_index(2**63) for source in sources}) == len(sources)


def test_a_seed_gives_the_same_workload_whatever_the_order_of_the_files() -> None:
    one = seeded(NODES, PODS, seed=3, tune=0)
    other = seeded(NODES[::-1], PODS[::-1], seed=3, tune=0)

    assert one.nodes == other.nodes
    assert one.pods == other.pods
    assert one.arrivals.tolist() == other.arrivals.tolist()


def test_every_pod_comes_once_where_nothing_is_tuned() -> None:
    workload = seeded(NODES, PODS, seed=3, tune=0)

    assert sorted(workload.arrivals.tolist()) == list(range(8))
    assert not workload.is_clone.any()
    assert workload.arrivals.tolist() != sorted(workload.arrivals.tolist())


def test_the_order_of_a_seed_never_changes() -> None:
    workload = seeded(NODES, PODS, seed=42, tune=0)

    assert workload.arrivals.tolist() == [1, 3, 4, 5, 0, 7, 6, 2]
    assert [node.name for node in workload.nodes] == ["n2", "n1", "n0"]


def test_clones_follow_until_the_next_would_ask_for_too_much() -> None:
    pods = [trace_pod("whole"), trace_pod("pair", gpus=2), trace_pod("cpu", gpus=0, milli=0)]

    workload = seeded([trace_node(gpus=8)], pods, seed=5, tune=0.9)

    asked = [workload.pods[index] for index in workload.arrivals.tolist()]
    total = sum(pod.gpus for pod in asked)
    assert sorted(pod.name for pod in asked[:3]) == ["cpu", "pair", "whole"]
    assert workload.is_clone.tolist() == [False] * 3 + [True] * (len(asked) - 3)
    # 7.2 GPUs are the aim; a draw counts as one GPU, so a pair may come at 6.
    assert total in {7, 8}


def test_the_number_of_clones_is_bounded() -> None:
    with pytest.raises(UnusableTrace, match=r"^It takes 20 pods or more to ask for that many"):
        tuned(
            [0], [trace_pod()], target_milli=1e6, chance=Chance(1, Stream.TUNING), arrivals_max=20
        )


def test_pods_leave_at_random_where_there_are_too_many() -> None:
    pods = [trace_pod(f"p{index:02}") for index in range(40)]

    workload = seeded([trace_node(gpus=8)], pods, seed=5, tune=1.3)
    whole = seeded([trace_node(gpus=8)], pods, seed=5, tune=0)

    left = workload.arrivals.tolist()
    assert len(left) == 10
    assert left == [index for index in whole.arrivals.tolist() if index in left]


@pytest.mark.parametrize(("name", "count"), [("default", 10914), ("multigpu50", 6359)])
def test_the_public_trace_is_tuned_to_the_share_that_is_asked_for(name: str, count: int) -> None:
    workload = seeded(openb_nodes(), openb_pods(name), seed=42, tune=1.3)

    asked = sum(workload.pods[i].gpus * workload.pods[i].gpu_milli for i in workload.arrivals)
    assert 1.299 < asked / workload.capacity.gpu_milli <= 1.3
    assert len(workload.arrivals) == count
    assert workload.is_clone.any() == (name == "default")


@pytest.mark.parametrize(
    ("name", "count"), [("default", 35), ("multigpu50", 43), ("gpuspec33", 127)]
)
def test_so_many_pods_of_the_public_trace_are_typical(name: str, count: int) -> None:
    typical = typical_pods(openb_pods(name))

    assert len(typical) == count
    assert math.fsum(pod.share for pod in typical) == pytest.approx(1)


def test_typical_pods_stand_commonest_first_and_the_larger_first_among_equals() -> None:
    pods = [
        trace_pod(f"{name}{index}", cpu=cpu, milli=milli, models=models)
        for name, cpu, milli, models, count in [
            ("rare", 9000, 1000, (), 1),
            ("small", 1000, 500, (), 10),
            ("part", 2000, 500, (), 10),
            ("whole", 2000, 1000, ("A",), 10),
            ("later", 2000, 1000, ("B",), 10),
            ("often", 1, 1, (), 11),
        ]
        for index in range(count)
    ]

    found = [(pod.cpu_milli, pod.gpu_milli, pod.models) for pod in typical_pods(pods)]

    assert found == [
        (1, 1, ()),
        (2000, 1000, ("B",)),
        (2000, 1000, ("A",)),
        (2000, 500, ()),
        (1000, 500, ()),
    ]


def test_a_recording_gives_order_clones_and_ranks() -> None:
    workload = openb_recorded("default")

    first = workload.pods[workload.arrivals[0]]
    assert (len(workload.arrivals), int(workload.is_clone.sum())) == (10866, 2714)
    assert (first.name, workload.nodes[0].name) == ("openb-pod-0255", "openb-node-0260")


def test_a_recording_of_other_pods_is_refused() -> None:
    with pytest.raises(UnusableTrace, match=r"^q comes in the recording but is not in the list"):
        recorded(NODES, PODS, arrivals=[("q", False)], ranks=["n0", "n1", "n2"])


@pytest.mark.parametrize(
    ("ranks", "message"),
    [(["n0", "n1"], "n2 is only in the list of nodes;"), (["n0", "n1", "n2", "x"], "x is only in")],
)
def test_a_recording_of_other_nodes_is_refused(ranks: list[str], message: str) -> None:
    with pytest.raises(UnusableTrace, match=message):
        recorded(NODES, PODS, arrivals=[], ranks=ranks)


@pytest.mark.parametrize("tune", [-1, math.inf, math.nan])
def test_a_share_that_is_no_number_is_refused(tune: float) -> None:
    with pytest.raises(UnusableTrace, match="is no number from 0 on"):
        seeded(NODES, PODS, seed=1, tune=tune)


def test_clones_of_pods_without_gpus_never_ask_for_more() -> None:
    pods = [trace_pod(gpus=0, milli=0)]

    with pytest.raises(UnusableTrace, match="No pod asks for a GPU"):
        seeded(NODES, pods, seed=1, tune=1)


def test_nodes_without_gpus_cannot_be_measured() -> None:
    with pytest.raises(UnusableTrace, match="The nodes have no GPU"):
        seeded([trace_node(gpus=0)], PODS, seed=1, tune=0)
