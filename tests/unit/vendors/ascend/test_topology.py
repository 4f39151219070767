"""Which chips belong together."""

from springtide.model.device import Inventory
from springtide.vendors.ascend.topology import closeness, nearest, partners, whole_modules
from tests.unit.vendors.ascend.building import chip, chips


def test_modules_come_in_the_order_of_their_numbers() -> None:
    devices = chips("a", "b", "c", "d", "e", "f")

    assert whole_modules(devices, [5, 4, 3, 1, 0], 2) == [1, 0]
    assert whole_modules(devices, [5, 4, 3, 1, 0], 4) == [1, 0, 5, 4]


def test_half_modules_are_left_out() -> None:
    assert whole_modules(chips("a", "b", "c", "d"), [3, 2, 0], 4) == [3, 2]


def test_a_single_chip_is_taken_as_collected() -> None:
    assert nearest(chips("a", "b", "c", networks=[0, 1, 1]), [0, 2, 1], 1) == [0]


def test_equal_networks_come_in_the_order_of_their_numbers() -> None:
    devices = chips("a", "b", "c", "d", networks=[7, 3, 7, 3])

    assert nearest(devices, [3, 2, 1, 0], 3) == [3, 1, 2]


def test_closeness_is_the_part_in_the_most_frequent_network() -> None:
    assert closeness([1, 1, 1, 2]) == 0.75
    assert closeness([1]) == 1


def test_the_two_of_a_module_are_partners() -> None:
    devices = tuple(chip(name, index=index) for name, index in [("a", 0), ("b", 3), ("c", 1)])

    assert partners(Inventory("Ascend", devices)) == (2, 1, 0)


def test_a_module_of_three_has_no_partners() -> None:
    devices = tuple(chip(name, index=0) for name in "abc")

    assert partners(Inventory("Ascend", devices)) is None
