"""Verdicts and scores over many nodes at once."""

import numpy as np
import pytest

from springtide.engine.placement.family import ABSENT, ACCEPTED, Verdicts
from springtide.model.columns import Float32
from springtide.model.device import Device, MigPlacement, Share
from springtide.model.device_columns import DeviceColumns
from springtide.vendors.nvidia import FAMILY, NvidiaAsk
from tests.unit.vendors.nvidia.building import (
    DEVICE_POLICY,
    NODE_POLICY,
    ask,
    card,
    cards,
    container,
    inventory,
    mig_card,
    pod,
)

UNREGISTERED = "node unregistered"


def columns(*nodes: list[Device] | None) -> DeviceColumns:
    made = DeviceColumns("NVIDIA", max(len(nodes), 1))
    for row, devices in enumerate(nodes):
        made.set_row(row, None if devices is None else inventory(*devices))
    return made


def judged(wish: NvidiaAsk, made: DeviceColumns) -> Verdicts:
    return FAMILY.evaluate(wish, made, np.arange(len(made.count)))


def scores(wish: NvidiaAsk, made: DeviceColumns) -> Float32:
    return FAMILY.scores(wish, made, np.arange(len(made.count)), loads=made.load)


def texts(wish: NvidiaAsk, made: DeviceColumns) -> list[str]:
    verdicts = judged(wish, made)
    return [
        "fits" if fits else FAMILY.refusal(wish, codes).text
        for fits, codes in zip(verdicts.fits, verdicts.codes, strict=True)
    ]


def test_t76_t129_every_row_has_its_own_answer() -> None:
    made = columns(cards("a", "b"), [card("c", memory_mib=10)], cards("d"), None)
    made.take(2, [Share(position=0, slots=10)])

    answers = texts(ask(pod(container(gpu=1, mem=1000))), made)

    assert answers == [
        "fits",
        "1/1 CardInsufficientMemory",
        "1/1 CardTimeSlicingExhausted",
        UNREGISTERED,
    ]


def test_cells_without_a_candidate_are_absent() -> None:
    made = columns(cards("a", "b", "c"), [card("d"), card("e", model="Tesla T4")])

    verdicts = judged(ask(pod(container(gpu=1, mem=1))), made)

    assert verdicts.codes.tolist() == [[ACCEPTED] * 3, [ACCEPTED, ABSENT, ABSENT]]
    assert verdicts.is_exact.all()


def test_a_node_with_too_few_cards_says_so_even_after_padding() -> None:
    made = columns(cards("a"), cards("b", "c", "d"))
    wish = ask(pod(container(gpu=2, mem=1)))

    verdicts = judged(wish, made)
    padded = np.append(verdicts.codes[0], np.uint8(ABSENT))

    assert FAMILY.refusal(wish, padded).text == "NodeInsufficientDevice"
    assert FAMILY.refusal(wish, padded).is_unresolvable


def test_ids_and_types_are_judged_per_distinct_inventory_and_type() -> None:
    made = columns(cards("a", "b"), cards("a", "b"), [card("c", model="NVIDIA-T4")], None)
    by_id = ask(pod(container(gpu=1, mem=1), annotations={"nvidia.com/use-gpuuuid": "c"}))
    by_type = ask(pod(container(gpu=1, mem=1), annotations={"nvidia.com/use-gputype": "a10"}))

    assert texts(by_id, made) == ["2/2 CardUuidMismatch"] * 2 + ["fits", UNREGISTERED]
    assert texts(by_type, made) == ["fits", "fits", "1/1 CardTypeMismatch", UNREGISTERED]


@pytest.mark.parametrize(
    ("containers", "init", "is_exact"),
    [
        ([container(gpu=1, mem=1)], [], True),
        ([container(gpu=1, mem=1)], [container("i", gpu=1, mem=2)], True),
        ([container("a", gpu=1, mem=1), container("b", gpu=1, mem=1)], [], False),
        ([container("a", gpu=1, mem=1), container("b")], [], True),
    ],
)
def test_several_app_containers_make_a_passing_row_an_upper_bound(
    containers: list[object], init: list[object], *, is_exact: bool
) -> None:
    wish = ask(pod(*containers, init=init))  # type: ignore[arg-type]  # built above

    verdicts = judged(wish, columns(cards("a", "b")))

    assert verdicts.fits.tolist() == [True]
    assert verdicts.is_exact.tolist() == [is_exact]


def test_the_first_container_that_is_refused_gives_an_exact_refusal() -> None:
    init_first = ask(
        pod(
            container("a", gpu=1, mem=99999),
            container("b", gpu=1, mem=1),
            init=[container("i", gpu=3, mem=1)],
        )
    )
    made = columns(cards("a", "b"), cards("c", "d", "e"))

    verdicts = judged(init_first, made)

    assert texts(init_first, made) == ["NodeInsufficientDevice", "3/3 CardInsufficientMemory"]
    assert verdicts.is_exact.all()


def test_mig_cards_that_might_serve_are_an_upper_bound() -> None:
    wish = ask(pod(container(gpu=3, mem=5000)))
    made = columns([mig_card()], [mig_card()])
    made.take(0, [Share(position=0, slots=1, occupied=(MigPlacement(start=0, size=8),))])
    made.take(1, [Share(position=0, slots=7)])

    verdicts = judged(wish, made)

    assert verdicts.fits.tolist() == [True, False]
    assert verdicts.is_exact.tolist() == [False, True]


def test_numa_binding_over_several_numa_nodes_is_an_upper_bound() -> None:
    bound = {"nvidia.com/numa-bind": "true"}
    made = columns(cards("a", "b", numa=[0, 1]), cards("c", "d"))

    two = judged(ask(pod(container(gpu=2, mem=1), annotations=bound)), made)
    one = judged(ask(pod(container(gpu=1, mem=1), annotations=bound)), made)

    assert two.fits.tolist() == [True, True]
    assert two.is_exact.tolist() == [False, True]
    assert one.is_exact.all()


def test_rows_that_are_closed_are_not_judged_exactly() -> None:
    made = columns(cards("a"), cards("b"))
    made.closed[1] = {"uid": "unreadable"}

    verdicts = judged(ask(pod(container(gpu=1, mem=1))), made)

    assert verdicts.is_exact.tolist() == [True, False]


def test_mutex_wants_idle_cards() -> None:
    made = columns(cards("a"))
    made.take(0, [Share(position=0)])
    wish = ask(pod(container(gpu=1, mem=1), annotations={DEVICE_POLICY: "spread, mutex"}))

    assert texts(wish, made) == ["1/1 ExclusiveDeviceAllocateConflict"]


def test_scores_prefer_the_fuller_node_unless_told_to_spread() -> None:
    devices = [card(f"d{i}", index=i, memory_mib=8000) for i in range(2)]
    made = columns(devices, devices, None)
    made.take(0, [Share(position=0, memory_mib=2000, cores=25)])
    made.take(1, [Share(position=1, memory_mib=6000, cores=75)])

    packed = scores(ask(pod(container(gpu=1))), made)
    spread = scores(ask(pod(container(gpu=1), annotations={NODE_POLICY: "spread"})), made)

    assert packed.tolist() == [3.0, 8.0, 0.0]
    assert spread.tolist() == [-3.0, -8.0, 0.0]
    assert packed.dtype == np.float32


@pytest.mark.parametrize(
    ("node_policy", "device_policy", "node", "device"),
    [
        pytest.param("binpack", "binpack", 1, "device4", id="T60"),
        pytest.param("binpack", "spread", 1, "device3", id="T61"),
        pytest.param("spread", "binpack", 0, "device1", id="T62"),
        pytest.param("spread", "spread", 0, "device2", id="T63"),
    ],
)
def test_policies_choose_the_node_and_then_the_card(
    node_policy: str, device_policy: str, node: int, device: str
) -> None:
    made = columns(
        [card(f"device{i}", memory_mib=8000) for i in (1, 2)],
        [card(f"device{i}", memory_mib=8000) for i in (3, 4)],
    )
    made.take(0, [Share(position=0, memory_mib=2000, cores=25)])
    made.take(1, [Share(position=1, memory_mib=6000, cores=75)])
    notes = {NODE_POLICY: node_policy, DEVICE_POLICY: device_policy}
    wish = ask(pod(container(gpu=1, mem=1000, cores=20), annotations=notes))

    best = int(scores(wish, made).argmax())
    seen = made.view(best)

    assert seen is not None
    assert best == node
    assert FAMILY.encode(FAMILY.place(wish, seen))["hami.io/vgpu-devices-allocated"] == (  # type: ignore[arg-type]  # it fits
        f"{device},NVIDIA,1000,20:;"
    )
