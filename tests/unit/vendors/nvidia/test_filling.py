"""Which pods are filled by columns, and which are left to placing one by one."""

import numpy as np
import pytest

from springtide.engine.placement.family import Filling
from springtide.model.device import Device, Inventory
from springtide.model.pod import Pod
from springtide.vendors.nvidia import Nvidia, NvidiaAsk
from tests.builders import card, cards, mig_card, node, pod
from tests.headrooms import ledger_of

NVIDIA = Nvidia()
POLICY = "hami.io/gpu-scheduler-policy"


def filling(asked: Pod, *devices: Device) -> Filling:
    """Return how one empty node with these cards is filled."""
    ledger = ledger_of([(node(), devices)])
    ask = NVIDIA.ask(asked)
    assert isinstance(ask, NvidiaAsk)
    return NVIDIA.fill(ask, ledger.devices["NVIDIA"], np.array([0]))


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        (pod(gpu=1, gpumem=8000), 2 * 3),
        (pod(gpu=1, gpumem=1000), 2 * 10),
        (pod(gpu=1, gpumem=1000, gpucores=40), 2 * 2),
        (pod(gpu=1, gpucores=100), 2),
        (pod(gpu=2, gpucores=100), 1),
        (pod(gpu=2, gpumem=8000), 3),
        (pod(gpu=2, gpumem=8000, annotations={POLICY: "binpack"}), 3),
    ],
)
def test_memory_slots_and_cores_end_a_card(asked: Pod, count: int) -> None:
    answer = filling(asked, *cards(2))

    assert answer.is_known.tolist() == [True]
    assert answer.counts.tolist() == [count]


@pytest.mark.parametrize(
    ("asked", "devices"),
    [
        (pod(gpu=1, gpumem=5000), (mig_card(),)),
        (pod(gpu=2, gpumem=8000, annotations={POLICY: "numa,spread"}), cards(3)),
        (pod(gpu=2, gpumem=8000, annotations={POLICY: "topology-aware"}), cards(3)),
        (pod(gpu=1, gpumem=8000), (card("GPU-0"), card("GPU-0"))),
        (
            pod(gpu=2, gpucores=100, annotations={"nvidia.com/numa-bind": "true"}),
            (card("GPU-0"), card("GPU-1", numa=1), card("GPU-2", numa=1)),
        ),
    ],
    ids=["a MIG card", "a chain of policies", "the topology policy", "one id twice", "NUMA nodes"],
)
def test_what_depends_on_the_order_of_cards_is_left_open(
    asked: Pod, devices: tuple[Device, ...]
) -> None:
    answer = filling(asked, *devices)

    assert answer.is_known.tolist() == [False]


def test_the_columns_that_were_given_stay_as_they_are() -> None:
    ledger = ledger_of([(node(), cards(2))])
    columns = ledger.devices["NVIDIA"]
    ask = NVIDIA.ask(pod(gpu=1, gpumem=8000))
    assert isinstance(ask, NvidiaAsk)

    answer = NVIDIA.fill(ask, columns, np.array([0]))

    assert columns.memory_used[0].tolist() == [0, 0]
    assert answer.after.memory_used[0].tolist() == [24000, 24000]
    assert answer.after.slots_used[0].tolist() == [3, 3]


def test_an_inventory_that_names_an_id_twice_is_known_for_it() -> None:
    ledger = ledger_of([(node(), cards(2)), (node(), (card(), card()))])
    columns = ledger.devices["NVIDIA"]

    columns.copy_row(1, 0)

    assert columns.repeats[:2].tolist() == [True, True]
    columns.set_row(0, Inventory("NVIDIA", cards(2)))
    assert columns.repeats[:2].tolist() == [False, True]
