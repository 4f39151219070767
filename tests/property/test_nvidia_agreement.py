"""Laws of the NVIDIA family over generated nodes and asks.

Vector and exact verdicts agree: where `evaluate` is exact, `place` says the same in the same words;
where it is not, it never refuses what `place` places. A placement never takes what is not there.
"""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from springtide.engine.placement.score import Weights
from springtide.model.device import (
    Allocation,
    Device,
    DeviceView,
    Inventory,
    MigPlacement,
    Share,
)
from springtide.model.device_columns import DeviceColumns
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import FAMILY, NvidiaAsk
from springtide.vendors.nvidia.ask import Allowance, Request
from tests.reference import nvidia as reference
from tests.unit.vendors.nvidia.building import A100_PROFILES

POLICIES = (
    "spread",
    "binpack",
    "mutex",
    "topology-aware",
    "numa",
    "binpack,mutex",
    "spread,topology-aware",
)

requests = st.builds(
    Request,
    count=st.integers(1, 4),
    memory_mib=st.sampled_from([0, 1000, 5000, 20000, 50000]),
    memory_pct=st.sampled_from([10, 50, 100]),
    cores=st.sampled_from([0, 20, 60, 100, 120]),
)


ALLOWANCES = st.builds(
    Allowance,
    memory_mib=st.sampled_from([None, None, -1, 0, 1000, 5000, 10000, 24576, 45000, 90000]),
    cores=st.sampled_from([None, None, -1, 0, 20, 60, 100, 160, 240]),
)


@st.composite
def asks(draw: st.DrawFn) -> NvidiaAsk:
    containers = draw(st.lists(st.none() | requests, min_size=1, max_size=4).filter(any))
    ids = st.none() | st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3).map(tuple)
    return NvidiaAsk(
        requests=tuple(containers),
        init_count=draw(st.integers(0, len(containers))),
        node_policy="binpack",
        device_policy=draw(st.sampled_from(POLICIES)),
        weights=draw(st.sampled_from([Weights(), Weights(memory=3)])),
        use_types=draw(st.sampled_from([None, None, ("A10",), ("T4",)])),
        avoid_types=draw(st.sampled_from([None, None, ("T4",)])),
        use_ids=draw(st.none() | ids),
        avoid_ids=draw(st.none() | ids),
        numa_bind=draw(st.booleans()),
        vgpu_mode=draw(st.sampled_from([None, None, "mig", "hami-core", "hami-core,mig"])),
        allowance=draw(st.none() | ALLOWANCES),
    )


@st.composite
def devices(draw: st.DrawFn, index: int) -> Device:
    is_mig = draw(st.integers(0, 4)) == 0
    return Device(
        id="abcdef"[index],
        index=index,
        slots=draw(st.sampled_from([0, 1, 3, 10])),
        memory_mib=40960 if is_mig else draw(st.sampled_from([0, 8000, 24576, 40960])),
        cores=draw(st.sampled_from([0, 50, 100, 100, 100, 200])),
        type=draw(st.sampled_from(["NVIDIA-A10", "NVIDIA-T4", "NVIDIA", "Tesla T4"])),
        numa=draw(st.integers(0, 1)),
        mode="mig" if is_mig else draw(st.sampled_from(["hami-core", ""])),
        is_healthy=draw(st.integers(0, 5)) > 0,
        is_cordoned=draw(st.integers(0, 5)) == 0,
        mig_profiles=A100_PROFILES if is_mig else (),
        links=tuple((other, draw(st.integers(-1, 3))) for other in "ab"),
    )


@st.composite
def shares(draw: st.DrawFn, position: int) -> Share:
    placements = st.builds(MigPlacement, start=st.integers(0, 6), size=st.integers(1, 2))
    return Share(
        position=position,
        slots=draw(st.sampled_from([0, 1, 2, 9])),
        memory_mib=draw(st.sampled_from([0, 1000, 8000, 20000])),
        cores=draw(st.sampled_from([0, 40, 50, 100])),
        occupied=tuple(draw(st.lists(placements, max_size=2))),
        is_opaque=draw(st.integers(0, 9)) == 0,
    )


@st.composite
def nodes(draw: st.DrawFn) -> tuple[Inventory, list[Share]]:
    count = draw(st.integers(1, 6))
    registered = tuple(draw(devices(index)) for index in range(count))
    held = [draw(shares(position)) for position in range(count) if draw(st.booleans())]
    return Inventory("NVIDIA", registered), held


def columns_of(made: list[tuple[Inventory, list[Share]]]) -> DeviceColumns:
    columns = DeviceColumns("NVIDIA", len(made))
    for row, (inventory, held) in enumerate(made):
        columns.set_row(row, inventory)
        columns.take(row, held)
    return columns


@given(st.lists(nodes(), min_size=1, max_size=4), asks())
def test_vector_and_exact_verdicts_agree(
    made: list[tuple[Inventory, list[Share]]], ask: NvidiaAsk
) -> None:
    columns = columns_of(made)

    verdicts = FAMILY.evaluate(ask, columns, np.arange(len(made)))

    for row in range(len(made)):
        view = columns.view(row)
        assert view is not None
        answer = FAMILY.place(ask, view)
        if isinstance(answer, Allocation):
            assert verdicts.fits[row]
        elif verdicts.is_exact[row]:
            assert not verdicts.fits[row]
            assert FAMILY.refusal(ask, verdicts.codes[row]) == answer


@given(nodes(), asks())
def test_a_row_is_judged_alike_alone_and_among_others(
    made: tuple[Inventory, list[Share]], ask: NvidiaAsk
) -> None:
    columns = columns_of([made, made, made])

    alone = FAMILY.evaluate(ask, columns, np.array([1]))
    among = FAMILY.evaluate(ask, columns, np.arange(3))

    assert alone.codes[0].tolist() == among.codes[1].tolist()
    assert (alone.fits[0], alone.is_exact[0]) == (among.fits[1], among.is_exact[1])


@given(st.lists(nodes(), min_size=1, max_size=4), asks())
def test_columns_and_placements_equal_a_naive_reference(
    made: list[tuple[Inventory, list[Share]]], ask: NvidiaAsk
) -> None:
    assume("topology-aware" not in ask.device_policy)
    columns = columns_of(made)

    verdicts = FAMILY.evaluate(ask, columns, np.arange(len(made)))

    for row in range(len(made)):
        view = columns.view(row)
        assert view is not None
        expected = reference.verdict(ask, view)
        answer = FAMILY.place(ask, view)
        if isinstance(answer, Refusal):
            assert answer.text == expected
        else:
            given_to = [
                [(grant.device_id, grant.memory_mib, grant.cores) for grant in container]
                for container in answer.containers
            ]
            assert given_to == expected
            assert verdicts.fits[row]
        if verdicts.is_exact[row] and not verdicts.fits[row]:
            assert FAMILY.refusal(ask, verdicts.codes[row]).text == expected


def spare(view: DeviceView) -> list[tuple[int, int]]:
    """Return free MiB and slots by card; what is overcommitted already counts as none."""
    return [
        (max(device.memory_mib - use.memory_mib, 0), max(device.slots - use.slots, 0))
        for device, use in zip(view.inventory.devices, view.uses, strict=True)
    ]


@given(nodes(), asks())
def test_a_placement_takes_no_more_than_is_there(
    made: tuple[Inventory, list[Share]], ask: NvidiaAsk
) -> None:
    view = columns_of([made]).view(0)
    assert view is not None
    answer = FAMILY.place(ask, view)

    if isinstance(answer, Refusal):
        assert answer.reasons
        return
    free = spare(view)
    for share in FAMILY.shares(answer, view.inventory):
        if view.inventory.devices[share.position].mode == "mig":
            continue  # A request for several instances is checked against slots only once.
        memory_mib, slots = free[share.position]
        assert share.memory_mib <= memory_mib
        assert share.slots <= slots


@given(nodes(), asks())
def test_every_container_gets_as_many_cards_as_it_asks_for(
    made: tuple[Inventory, list[Share]], ask: NvidiaAsk
) -> None:
    view = columns_of([made]).view(0)
    assert view is not None
    answer = FAMILY.place(ask, view)

    if isinstance(answer, Allocation):
        counts = [len(grants) for grants in answer.containers]
        assert counts == [request.count if request else 0 for request in ask.requests]


@given(nodes(), asks())
def test_mig_instances_of_app_containers_never_overlap(
    made: tuple[Inventory, list[Share]], ask: NvidiaAsk
) -> None:
    inventory, _ = made
    view = columns_of([(inventory, [])]).view(0)
    assert view is not None
    answer = FAMILY.place(structs.replace(ask, init_count=0), view)

    if isinstance(answer, Allocation):
        placed = [
            (grant.device_id, grant.mig_placement)
            for grants in answer.containers
            for grant in grants
            if grant.mig_placement is not None
        ]
        for index, (card, place) in enumerate(placed):
            assert not any(
                card == other and place.overlaps(taken) for other, taken in placed[:index]
            )
