"""What has to hold of a run: every way to break it is noticed, and named."""

from typing import Any

import msgspec
import numpy as np
import pytest

from springtide.apps.bench.invariants import UNLIMITED, violation
from springtide.apps.bench.performing import made, read
from springtide.apps.bench.policies import POLICIES
from springtide.engine.trace import Chance, Run, Stream, Workload, seeded
from springtide.model.trace import TraceNode, TracePod
from tests.benches import job

NODES = (
    TraceNode(name="a", cpu_milli=8000, memory_mib=1000, gpus=2, model="T4"),
    TraceNode(name="b", cpu_milli=8000, memory_mib=1000, gpus=1, model="P100"),
)


def replay(*pods: TracePod) -> tuple[Workload, Run]:
    workload = seeded(NODES, pods, seed=1, tune=0)
    return workload, run_of(workload)


def run_of(workload: Workload) -> Run:
    started = POLICIES["first-fit"](workload, Chance(1, Stream.POLICY))
    for _ in range(len(workload.arrivals)):
        started.place()
    return started.run()


def example() -> tuple[Workload, Run]:
    each = job()
    workload = made(each.order, *read(each.nodes, each.pods))
    return workload, run_of(workload)


def test_a_run_that_is_right_has_no_violation() -> None:
    assert violation(*example()) is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"labels": {"q1": 1.0}}, "the labels add up to 1.0"),
        ({"failed_by_class": {"cpu": 10_000}}, "the classes add up to another number"),
        ({"cpu_used_milli": 1}, "the CPU or memory in use is miscounted"),
        ({"memory_used_mib": 1}, "the CPU or memory in use is miscounted"),
        ({"gpus_touched": 1}, "GPUs hold something, 1 are told"),
    ],
)
def test_sums_that_are_wrong_are_noticed(changes: dict[str, Any], told: str) -> None:
    workload, run = example()

    found = violation(workload, msgspec.structs.replace(run, **changes))

    assert found is not None
    assert told in found


@pytest.mark.parametrize("name", ["used_milli", "arrived_milli"])
def test_a_curve_that_is_wrong_is_noticed_where_it_is(name: str) -> None:
    workload, run = example()
    column = getattr(run, name).copy()
    column[3] += 1

    found = violation(workload, msgspec.structs.replace(run, **{name: column}))

    assert found is not None
    assert found.startswith("arrival 3: ")


@pytest.mark.parametrize("frag_milli", [-1.0, 13_001.0])
def test_a_fragment_that_cannot_be_is_noticed_where_it_is(frag_milli: float) -> None:
    workload, run = example()
    column = run.frag_milli.copy()
    column[2] = frag_milli

    found = violation(workload, msgspec.structs.replace(run, frag_milli=column))

    assert found is not None
    assert found.startswith("arrival 2: of ")


def pod(name: str, *, gpus: int = 1, gpu_milli: int = 600, cpu_milli: int = 1000) -> TracePod:
    return TracePod(
        name=name,
        cpu_milli=cpu_milli,
        memory_mib=10,
        gpus=gpus,
        gpu_milli=gpu_milli,
        models=("T4",) if gpus else (),
    )


def moved(
    *pods: TracePod, to: str, devices: tuple[int, ...] = (), pods_a_gpu: int = UNLIMITED
) -> str | None:
    """What is found if all pods stand on that node, or nowhere, with these GPUs."""
    workload, run = replay(*pods)
    rows = {node.name: row for row, node in enumerate(workload.nodes)}
    nodes = np.full(len(pods), rows.get(to, -1), np.int32)
    told = msgspec.structs.replace(run, nodes=nodes, devices=(devices,) * len(pods))
    return violation(workload, told, pods_a_gpu=pods_a_gpu)


def test_a_gpu_that_holds_too_much_is_noticed() -> None:
    found = moved(pod("x"), pod("y"), to="a", devices=(0,))

    assert found is not None
    assert found.endswith("its GPU holds more than a whole one, or too many pods")


def test_a_gpu_that_more_pods_have_than_may_is_noticed() -> None:
    pods = [pod(name, gpu_milli=100) for name in "xyz"]

    found = moved(*pods, to="a", devices=(0,), pods_a_gpu=2)

    assert moved(*pods, to="a", devices=(0,), pods_a_gpu=3) != found
    assert found is not None
    assert found.startswith("arrival 2, ")


def test_a_pod_may_be_refused_where_no_gpu_takes_more_pods() -> None:
    found = moved(pod("x"), to="nowhere", pods_a_gpu=0)

    # The sums of the run are those of one that was placed.
    assert found == "arrival 0: the GPU milli that arrived or are used are miscounted"


def test_a_node_that_holds_too_much_is_noticed() -> None:
    wide = [pod(name, gpus=0, gpu_milli=0, cpu_milli=5000) for name in "xy"]

    found = moved(*wide, to="a")

    assert found is not None
    assert found.endswith("its node holds more CPU, memory or pods than it has")


@pytest.mark.parametrize("devices", [(), (0, 1), (0, 0)])
def test_a_pod_with_another_number_of_gpus_is_noticed(devices: tuple[int, ...]) -> None:
    asked = 1 if len(set(devices)) != 1 else 2
    found = moved(pod("x", gpus=asked, gpu_milli=1000), to="a", devices=devices)

    assert found == (f"arrival 0, pod x: it asks for {asked} GPUs and has {list(devices)}")


def test_a_gpu_that_is_not_there_is_noticed() -> None:
    found = moved(pod("x"), to="b", devices=(1,))

    assert found is not None
    assert "of which the node lacks some" in found


def test_a_model_that_the_pod_does_not_take_is_noticed() -> None:
    found = moved(pod("x"), to="b", devices=(0,))

    assert found == "arrival 0, pod x: it takes no P100"


def test_a_pod_that_was_refused_and_fits_is_noticed() -> None:
    found = moved(pod("x"), to="nowhere")

    assert found is not None
    assert found.startswith("arrival 0, pod x: it was refused, and fits the node of rank ")


def test_an_arrival_that_is_lost_is_noticed() -> None:
    workload, run = replay(pod("x"), pod("y"))

    found = violation(workload, msgspec.structs.replace(run, nodes=run.nodes[:1]))

    assert found == "2 pods came, 1 were placed or failed"
