"""Replays: what fits where, what a run says of it, and what is a bug."""

from typing import Any

import numpy as np
import pytest

from springtide.engine.trace import (
    Capacity,
    Chance,
    Fragmentation,
    Replay,
    Run,
    State,
    Stream,
    measured,
    replayed,
    shape_of,
)
from springtide.engine.trace.metrics import allocation_pct, by_arrival, frag_pct
from springtide.engine.trace.typical import typical_pods
from springtide.model.trace import TraceNode, TracePod
from springtide.policies.published import PUBLISHED
from tests.traces import in_order, openb_nodes, openb_pods, trace_node, trace_pod

RNG = Chance(1, Stream.POLICY)


def placed(nodes: list[TraceNode], pods: list[TracePod]) -> Run:
    return replayed(in_order(nodes, pods), PUBLISHED["first-fit"], rng=RNG)


@pytest.mark.parametrize(
    ("asks", "fits"),
    [
        ({"cpu": 4000}, True),
        ({"cpu": 4001}, False),
        ({"memory": 100}, True),
        ({"memory": 101}, False),
        ({"gpus": 2}, True),
        ({"gpus": 4}, False),
        ({"models": ("P100", "T4")}, True),
        ({"models": ("P100",)}, False),
        ({"gpus": 0, "milli": 0, "models": ("P100",)}, True),
    ],
)
def test_a_node_takes_what_it_has_room_for(asks: dict[str, Any], fits: bool) -> None:  # noqa: FBT001
    run = placed([trace_node(cpu=4000, memory=100, gpus=2)], [trace_pod(**asks)])

    assert run.nodes.tolist() == [0 if fits else -1]


def test_a_node_has_room_for_1001_pods() -> None:
    pods = [trace_pod(f"p{i:04}", cpu=0, memory=0, gpus=0, milli=0) for i in range(1002)]

    run = placed([trace_node()], pods)

    assert run.nodes.tolist() == [0] * 1001 + [-1]
    assert run.failed_by_class["cpu"] == 1


def test_parts_of_two_gpus_are_no_whole_one() -> None:
    pods = [trace_pod("a", milli=600), trace_pod("b", milli=600), trace_pod("c", milli=500)]

    run = placed([trace_node(gpus=2)], pods)

    assert run.devices == ((0,), (1,), ())
    assert run.nodes.tolist() == [0, 0, -1]


def test_a_run_accounts_for_everything() -> None:
    nodes = [trace_node("a", gpus=2, cpu=10_000, memory=50), trace_node("b", gpus=1, cpu=3000)]
    pods = [
        trace_pod("p1", cpu=2000, memory=30, milli=400),
        trace_pod("p2", gpus=2),
        trace_pod("p3", gpus=3),
        trace_pod("p4", gpus=0, milli=0, cpu=500, memory=7),
        trace_pod("p5", cpu=500),
    ]

    run = placed(nodes, pods)

    assert run.nodes.tolist() == [0, -1, -1, 0, 0]
    assert run.devices == ((0,), (), (), (), (1,))
    assert run.arrived_milli.tolist() == [400, 2400, 5400, 5400, 6400]
    assert run.used_milli.tolist() == [400, 400, 400, 400, 1400]
    assert (run.cpu_used_milli, run.memory_used_mib) == (3000, 38)
    assert (run.nodes_used, run.gpus_touched) == (1, 2)
    assert run.failed_by_class == {
        "cpu": 0,
        "fractional": 0,
        "1": 0,
        "2": 1,
        "4": 0,
        "8": 0,
        "3": 1,
    }
    assert (run.arrived, run.failed) == (5, 2)
    assert run.capacity == Capacity(cpu_milli=13_000, memory_mib=1050, gpu_milli=3000, gpus=3)
    assert sum(run.labels.values()) == pytest.approx(1600)
    assert run.frag_milli[-1] == pytest.approx(1600 - run.labels["q3"])


def test_a_run_may_be_measured_before_its_end() -> None:
    workload = in_order([trace_node()], [trace_pod("a"), trace_pod("b")])
    replay = Replay(workload, PUBLISHED["first-fit"], rng=RNG)
    replay.place()

    run = replay.run()

    assert run.arrived == 1
    assert run.used_milli.tolist() == [1000]


def test_a_replay_of_nobody_leaves_all_idle() -> None:
    run = placed([trace_node(gpus=2)], [])

    assert (run.arrived, run.failed, run.gpus_touched) == (0, 0, 0)
    assert np.isnan(allocation_pct(run)).all()


def test_a_measure_that_is_shared_changes_no_run() -> None:
    workload = in_order(
        openb_nodes()[::40], [pod for pod in openb_pods("gpuspec33")[::20] if pod.gpus]
    )
    shared = Fragmentation(workload.typical)

    runs = [
        replayed(workload, PUBLISHED["fgd"], rng=RNG, fragmentation=measure)
        for measure in (None, shared, shared)
    ]

    assert runs[0].nodes.tolist() == runs[1].nodes.tolist() == runs[2].nodes.tolist()
    assert runs[0].frag_milli.tolist() == runs[1].frag_milli.tolist() == runs[2].frag_milli.tolist()


@pytest.mark.parametrize("devices", [(), (0, 1), (2,)])
def test_placing_on_other_gpus_than_there_are_or_asked_for_is_a_bug(
    devices: tuple[int, ...],
) -> None:
    state = State([trace_node(gpus=2)])

    with pytest.raises((AssertionError, IndexError)):
        state.take(0, shape_of(trace_pod()), devices)


def test_placements_that_overfill_a_gpu_are_a_bug() -> None:
    workload = in_order([trace_node()], [trace_pod("a", milli=600), trace_pod("b", milli=600)])

    with pytest.raises(AssertionError):
        measured(workload, [(0, (0,)), (0, (0,))])


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        # Typical are half: a GPU and 4 cores; a quarter: 500 milli and 1 core; a quarter: no GPU, 2 cores.
        (("T4", 4000, (300, 1000)), {"q2": 75 + 150, "q3": 250 + 500, "xl": 325}),
        (("T4", 4000, (400, 600)), {"q2": 500 + 100, "q3": 150, "xl": 250}),
        (("T4", 3000, (1000,)), {"q4": 500, "q3": 250, "xl": 250}),
        (("T4", 999, (400, 600)), {"q1": 500, "q4": 250, "xr": 250}),
        (("P100", 4000, (1000,)), {"no_access": 500, "q3": 250, "xl": 250}),
        (("T4", 4000, (0, 0)), {}),
        (("", 4000, ()), {}),
    ],
)
def test_idle_gpus_are_labelled_by_what_ends_each_typical_pod_there(
    node: tuple[str, int, tuple[int, ...]], expected: dict[str, float]
) -> None:
    pods = [
        trace_pod("a", cpu=4000, models=("T4",)),
        trace_pod("b", cpu=4000, models=("T4",)),
        trace_pod("c", cpu=1000, milli=500),
        trace_pod("d", cpu=2000, gpus=0, milli=0),
    ]
    measure = Fragmentation(typical_pods(pods))
    model, cpu_milli, gpus = node

    found = measure.labels(model, measure.level(cpu_milli), gpus)

    names = ("q1", "q2", "q3", "q4", "xl", "xr", "no_access")
    assert dict(zip(names, found, strict=True)) == pytest.approx(dict.fromkeys(names, 0) | expected)
    amount = measure.amount(model, measure.level(cpu_milli), gpus)
    assert amount == pytest.approx(sum(gpus) - expected.get("q3", 0))


def run_of(arrived_milli: list[int], used_milli: list[int]) -> Run:
    return Run(
        nodes=np.zeros(len(arrived_milli), np.int32),
        devices=(),
        arrived_milli=np.array(arrived_milli, np.int64),
        used_milli=np.array(used_milli, np.int64),
        frag_milli=np.array(used_milli, np.float64) / 2,
        labels={},
        cpu_used_milli=0,
        memory_used_mib=0,
        nodes_used=0,
        gpus_touched=0,
        capacity=Capacity(cpu_milli=1, memory_mib=1, gpu_milli=100_000, gpus=100),
        failed_by_class={},
    )


def test_curves_are_means_at_each_per_cent_of_arrival() -> None:
    run = run_of([0, 1000, 1400, 3000, 9000], [0, 1000, 1400, 2000, 2000])

    allocation = allocation_pct(run, last_pct=5)

    expected = [0, 1.2, (1000 + 1400 + 2000) / 3000, 2, 2, np.nan]
    assert allocation.tolist() == pytest.approx(expected, nan_ok=True)
    assert frag_pct(run, last_pct=1).tolist() == pytest.approx([0, 0.6])


def test_a_per_cent_without_values_takes_those_beside_it_only() -> None:
    run = run_of([1000, 1000, 3000], [3, 5, 10])

    found = by_arrival(run, run.used_milli, last_pct=4)

    assert found.tolist() == pytest.approx([4, 4, 6, 10, 10])


def test_allocation_is_noted_with_two_decimals_as_published() -> None:
    run = run_of([1000], [1004])

    assert allocation_pct(run, last_pct=1)[1] == 1.0
