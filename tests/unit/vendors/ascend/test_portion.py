"""What a pod takes of each chip, as one amount."""

from springtide.engine.placement.family import Portion
from springtide.vendors.ascend import Ascend
from tests.unit.vendors.ascend.building import SOFT, ask, chip, container, pod

FAMILY = Ascend()


def test_whole_chips_are_taken_whole() -> None:
    wanted = ask(pod(container(count=2)))

    assert FAMILY.portion(wanted, chip(memory_mib=65536)) == Portion(count=2, memory_mib=65536)


def test_a_part_of_a_chip_is_what_admission_made_of_it() -> None:
    wanted = ask(pod(container(count=1, memory=10_000)))

    assert FAMILY.portion(wanted, chip()) == Portion(count=1, memory_mib=16_384)


def test_chips_of_another_kind_give_nothing() -> None:
    wanted = ask(pod(container(count=1)))

    assert FAMILY.portion(wanted, chip(word="Ascend310P")) is None


def test_a_broken_chip_gives_nothing() -> None:
    assert FAMILY.portion(ask(pod(container(count=1))), chip(is_healthy=False)) is None


def test_cores_of_the_soft_split_are_left_out() -> None:
    wanted = ask(pod(container(count=1, memory=8192, core=30), annotations=SOFT))

    found = FAMILY.portion(wanted, chip())

    assert found is not None
    assert found.cores == 0
