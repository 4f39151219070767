"""Filling cards by columns takes the very cards that placing pod after pod takes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.model.device import Allocation, Device, DeviceView, Inventory, Share
from springtide.model.device_columns import DeviceColumns
from springtide.vendors.nvidia import Nvidia, NvidiaAsk
from tests.builders import card, pod

NVIDIA = Nvidia()
CARDS = st.builds(
    card,
    device_id=st.just(""),
    memory=st.sampled_from([10000, 10000, 12000]),
    cores=st.sampled_from([100, 100, 0]),
    slots=st.sampled_from([4, 4, 10]),
    model=st.sampled_from(["NVIDIA-A10", "NVIDIA-A10", "NVIDIA-A10", "NVIDIA"]),
    numa=st.integers(0, 1),
)
USES = st.tuples(
    st.integers(0, 2), st.sampled_from([0, 0, 1000, 3000]), st.sampled_from([0, 0, 10, 50])
)
NOTES = st.fixed_dictionaries(
    {
        "hami.io/gpu-scheduler-policy": st.sampled_from(
            ["spread", "binpack", "mutex", "spread,numa"]
        )
    },
    optional={
        "hami.io/device-scoring-weights": st.just("slot=0,core=1,memory=3"),
        "nvidia.com/numa-bind": st.just("true"),
    },
)


def columns_of(devices: list[Device], uses: list[tuple[int, int, int]]) -> DeviceColumns:
    """Return the columns of one node with these cards in this use."""
    columns = DeviceColumns("NVIDIA", 1)
    named = tuple(
        replace(device, id=f"GPU-{index}", index=index) for index, device in enumerate(devices)
    )
    columns.set_row(0, Inventory("NVIDIA", named))
    columns.take(
        0,
        [
            Share(position=position, slots=slots, memory_mib=memory, cores=min(cores, 100))
            for position, (slots, memory, cores) in enumerate(uses[: len(devices)])
        ],
    )
    return columns


def one_by_one(ask: NvidiaAsk, view: DeviceView) -> tuple[int, DeviceView]:
    """Return how many pods the cards take, and their use thereafter."""
    taken = 0
    while isinstance(answer := NVIDIA.place(ask, view), Allocation):
        view = view.plus(NVIDIA.shares(answer, view.inventory))
        taken += 1
    return taken, view


@settings(max_examples=500)
@given(
    devices=st.lists(CARDS, min_size=2, max_size=5),
    uses=st.lists(USES, min_size=5, max_size=5),
    count=st.integers(1, 3),
    memory=st.sampled_from([1000, 2000, 3000]),
    cores=st.sampled_from([0, 0, 10, 30]),
    notes=NOTES,
)
def test_columns_are_filled_card_by_card_as_by_one_pod_after_the_other(
    *,
    devices: list[Device],
    uses: list[tuple[int, int, int]],
    count: int,
    memory: int,
    cores: int,
    notes: dict[str, str],
) -> None:
    columns = columns_of(devices, uses)
    ask = NVIDIA.ask(pod(gpu=count, gpumem=memory, gpucores=cores, annotations=notes))
    view = columns.view(0)
    assert isinstance(ask, NvidiaAsk)
    assert view is not None

    filling = NVIDIA.fill(ask, columns, np.array([0]))

    taken, after = one_by_one(ask, view)
    if filling.is_known[0]:
        assert filling.counts.tolist() == [taken]
        assert filling.after.view(0) == after
