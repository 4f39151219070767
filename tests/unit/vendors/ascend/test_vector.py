"""Verdicts and scores over many nodes at once."""

import numpy as np
import pytest

from springtide.engine.placement.family import ABSENT, ACCEPTED, Verdicts
from springtide.model.device import Device, Inventory, Share
from springtide.model.device_columns import DeviceColumns
from springtide.vendors.ascend import FAMILY, AscendAsk
from tests.unit.vendors.ascend.building import (
    NODE_POLICY,
    SOFT,
    ask,
    chip,
    chips,
    container,
    pod,
)

C = "Ascend910C"


def columns(*nodes: list[Device] | None) -> DeviceColumns:
    made = DeviceColumns("Ascend", len(nodes))
    for row, devices in enumerate(nodes):
        made.set_row(row, None if devices is None else Inventory("Ascend", tuple(devices)))
    return made


def judged(wish: AscendAsk, made: DeviceColumns) -> Verdicts:
    return FAMILY.evaluate(wish, made, np.arange(len(made.count)))


def scores(wish: AscendAsk, made: DeviceColumns) -> list[float]:
    rows = np.arange(len(made.count))
    found: list[float] = FAMILY.scores(wish, made, rows, loads=made.load).tolist()
    return found


def texts(wish: AscendAsk, made: DeviceColumns) -> list[str]:
    verdicts = judged(wish, made)
    return [
        "fits" if fits else FAMILY.refusal(wish, codes).text
        for fits, codes in zip(verdicts.fits, verdicts.codes, strict=True)
    ]


def test_every_row_has_its_own_answer() -> None:
    made = columns(chips("a", "b"), [chip("c", memory_mib=10)], chips("d"), None, [chip(word=C)])
    made.take(2, [Share(position=0, slots=4)])

    answers = texts(ask(pod(container(count=1, memory=1000))), made)

    assert answers == [
        "fits",
        "1/1 CardInsufficientMemory",
        "1/1 CardTimeSlicingExhausted",
        "node unregistered",
        "NodeInsufficientDevice",
    ]


def test_cells_without_a_candidate_are_absent() -> None:
    verdicts = judged(ask(pod(container(count=1))), columns([chip("a"), chip("b", word=C)]))

    assert verdicts.codes.tolist() == [[ACCEPTED, ABSENT]]


def test_a_hard_node_refuses_the_soft_split_as_a_whole() -> None:
    made = columns(chips("a", "b", "c"), [chip("d", mode="hami-core")])

    answers = texts(ask(pod(container(count=1, memory=5, core=5), annotations=SOFT)), made)

    assert answers == ["1/3 ModeNotFit", "fits"]


def test_half_modules_are_refused_and_their_numbers_left_to_the_exact_answer() -> None:
    made = columns(chips("a", "b", "c", word=C), chips("d", "e", "f", word=C))
    made.take(1, [Share(position=0, memory_mib=65536)])

    verdicts = judged(ask(pod(container("main", C, count=2))), made)

    assert verdicts.fits.tolist() == [True, False]
    assert verdicts.is_exact.tolist() == [True, False]


def test_modules_of_three_chips_are_an_upper_bound() -> None:
    strange = [chip(name, word=C, index=0) for name in "abc"]

    verdicts = judged(ask(pod(container("main", C, count=2))), columns(strange))

    assert (verdicts.fits.tolist(), verdicts.is_exact.tolist()) == ([True], [False])


def test_further_containers_and_kinds_of_chip_are_an_upper_bound() -> None:
    made = columns([chip("a"), chip("b", word="Ascend310P", index=1, memory_mib=21527)])
    both = container(**{"huawei.com/Ascend910B3": 1, "huawei.com/Ascend310P": 1})

    for wanted in (pod(both), pod(container("x", count=1), container("y", count=1))):
        verdicts = judged(ask(wanted), made)
        assert (verdicts.fits.tolist(), verdicts.is_exact.tolist()) == ([True], [False])


@pytest.mark.parametrize(("notes", "sign"), [({}, 1), ({NODE_POLICY: "spread"}, -1)])
def test_scores_are_loads(notes: dict[str, str], sign: int) -> None:
    made = columns([chip()], [chip()])
    made.take(1, [Share(position=0, slots=2, memory_mib=32768, cores=10)])

    assert scores(ask(pod(container(count=1), annotations=notes)), made) == [0, sign * 15]


def test_chips_in_networks_raise_the_score_by_how_close_they_are() -> None:
    one = chips("a", "b", networks=[0, 0])
    two = chips("c", "d", networks=[0, 1])
    part = chips("e", "f", networks=[0, None])
    made = columns(one, two, part, chips("g", "h"), None)

    assert scores(ask(pod(container(count=2))), made) == [10, 5, 0, 0, 0]
    assert scores(ask(pod(container(count=1))), made)[:2] == [10, 10]
    assert scores(ask(pod(container(count=2), container("b", count=1))), made)[0] == 20


def test_only_some_kinds_of_chip_are_scored_by_network() -> None:
    made = columns(chips("a", "b", word="Ascend310P", networks=[0, 0]))

    assert scores(ask(pod(container("main", "Ascend310P", count=1, memory=3000))), made) == [0]
