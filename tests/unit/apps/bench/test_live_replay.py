"""Traces through the path of the live scheduler."""

from springtide.apps.bench.live import LiveReplay, shipped
from springtide.apps.planner.families import Policies
from springtide.engine.trace import NOWHERE, Chance, State, Stream, seeded, shape_of
from springtide.model.trace import TraceNode, TracePod
from tests.traces import openb_nodes, openb_pods

FIRST_PODS = 800


def test_shares_models_and_whole_gpus_are_given_as_the_trace_asks() -> None:
    nodes = [
        TraceNode(name="a", cpu_milli=8000, memory_mib=64_000, gpus=2, model="A10"),
        TraceNode(name="b", cpu_milli=8000, memory_mib=64_000, gpus=1, model="A100"),
        TraceNode(name="c", cpu_milli=64_000, memory_mib=64_000, gpus=0, model=""),
    ]
    pods = [
        TracePod(name="p0", cpu_milli=1, memory_mib=0, gpus=1, gpu_milli=335, models=("A10",)),
        TracePod(
            name="p1", cpu_milli=1, memory_mib=0, gpus=1, gpu_milli=665, models=("A10", "A10")
        ),
        TracePod(name="p2", cpu_milli=0, memory_mib=0, gpus=1, gpu_milli=1000, models=("A100",)),
        TracePod(name="p3", cpu_milli=1, memory_mib=0, gpus=1, gpu_milli=1000, models=("A10",)),
        TracePod(name="p4", cpu_milli=60_000, memory_mib=0, gpus=0, gpu_milli=0),
    ]
    workload = seeded(nodes, pods, seed=1, tune=0)
    replay = shipped(workload, Chance(1, Stream.POLICY))

    for _ in workload.arrivals:
        replay.place()

    placed = {
        workload.pods[index].name: (workload.nodes[row].name, devices)
        for index, (row, devices) in zip(workload.arrivals.tolist(), replay.placed, strict=True)
    }
    assert {name: node for name, (node, _) in placed.items()} == {
        "p0": "a", "p1": "a", "p2": "b", "p3": "a", "p4": "c",
    }  # fmt: skip
    assert placed["p0"] == placed["p1"]
    assert placed["p0"] != placed["p3"]
    replay.path.ledger.check()


def test_pods_go_where_the_trace_has_room_and_nowhere_only_if_there_is_none() -> None:
    workload = seeded(openb_nodes()[:80], openb_pods("default")[:FIRST_PODS], seed=3, tune=0)
    replay, state = LiveReplay(workload, Policies()), State(workload.nodes)

    for index in workload.arrivals.tolist():
        row, devices = replay.place()

        shape = shape_of(workload.pods[index])
        room = state.feasible(shape, range(len(workload.nodes)))
        assert row in room if room else row == NOWHERE
        if room:
            state.take(row, shape, devices)
    assert replay.run().failed > 0


def test_the_shipped_policies_pack_the_trace_alike_every_time() -> None:
    workload = seeded(openb_nodes()[:200], openb_pods("gpuspec33")[:FIRST_PODS], seed=3, tune=0)
    runs = []

    for _ in range(2):
        replay = shipped(workload, Chance(3, Stream.POLICY))
        for _ in workload.arrivals:
            replay.place()
        replay.path.ledger.check()
        runs.append(replay.run())

    assert runs[0].devices == runs[1].devices
    assert runs[0].nodes.tolist() == runs[1].nodes.tolist()
