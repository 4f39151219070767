"""Columns: interned values, resource amounts and device cells."""

import numpy as np

from springtide.model.columns import Interner, ResourceColumns, grown
from springtide.model.device import Inventory, MigPlacement, Share
from springtide.model.device_columns import DeviceColumns
from tests.builders import card, cards, mig_card


def test_a_value_keeps_the_code_of_its_first_sight() -> None:
    interner = Interner(("a",))

    codes = [interner.code(value) for value in ("b", "a", "b", "c")]

    assert codes == [1, 0, 1, 2]
    assert interner.values == ["a", "b", "c"]
    assert len(interner) == 3


def test_asking_for_a_value_does_not_give_it_a_code() -> None:
    interner = Interner[str]()

    assert interner.known("a") is None
    assert len(interner) == 0


def test_grown_arrays_keep_their_cells_and_never_shrink() -> None:
    array = np.array([[1, 2]])

    longer = grown(array, 3, axis=0)

    assert longer.tolist() == [[1, 2], [0, 0], [0, 0]]
    assert grown(array, 1, axis=1) is array


def test_resources_beyond_the_first_eight_get_room() -> None:
    columns = ResourceColumns(2)

    for index in range(20):
        columns.set_row(1, ((f"example.com/r{index}", index),))

    assert columns.known("example.com/r19") == 23
    assert columns.allocatable[23, 1] == 19
    assert columns.known("example.com/unheard-of") is None


def test_a_row_given_to_another_node_forgets_the_former_amounts() -> None:
    columns = ResourceColumns(1)
    columns.set_row(0, (("cpu", 4), ("memory", 2)))
    columns.used[1, 0] = 3

    columns.set_row(0, (("memory", 8),))

    assert columns.allocatable[:4, 0].tolist() == [0, 0, 8, 0]
    assert not columns.used.any()


def test_cells_beyond_a_nodes_devices_are_zero() -> None:
    columns = DeviceColumns("NVIDIA", 2)

    columns.set_row(0, Inventory("NVIDIA", cards(1)))
    columns.set_row(1, Inventory("NVIDIA", cards(3)))

    assert columns.width == 3
    assert columns.count.tolist() == [1, 3]
    assert columns.memory_total.tolist() == [[24576, 0, 0], [24576, 24576, 24576]]


def test_a_row_without_devices_has_no_inventory_and_no_view() -> None:
    columns = DeviceColumns("NVIDIA", 1)

    columns.set_row(0, None)

    assert columns.inventory_at(0) is None
    assert columns.view(0) is None


def test_new_rows_have_no_inventory() -> None:
    columns = DeviceColumns("NVIDIA", 1)
    columns.set_row(0, Inventory("NVIDIA", (card(),)))

    columns.grow(4)

    assert columns.inventory.tolist() == [0, -1, -1, -1]


def test_a_view_tells_what_is_in_use_of_every_device() -> None:
    columns = DeviceColumns("NVIDIA", 1)
    columns.set_row(0, Inventory("NVIDIA", (card(), mig_card("GPU-1"))))
    low = Share(position=1, memory_mib=5120, occupied=(MigPlacement(4, 4),))
    columns.take(0, [Share(position=0, memory_mib=100, cores=30), low])
    columns.take(
        0, [Share(position=1, is_opaque=True), Share(position=1, occupied=(MigPlacement(0, 1),))]
    )

    view = columns.view(0)

    assert view is not None
    first, second = view.uses
    assert (first.slots, first.memory_mib, first.cores, first.opaque) == (1, 100, 30, 0)
    assert (second.slots, second.memory_mib, second.opaque) == (3, 5120, 1)
    assert second.occupied == (MigPlacement(0, 1), MigPlacement(4, 4))


def test_a_freed_placement_is_forgotten() -> None:
    columns = DeviceColumns("NVIDIA", 1)
    columns.set_row(0, Inventory("NVIDIA", (mig_card(),)))
    shares = [Share(position=0, occupied=(MigPlacement(0, 1), MigPlacement(1, 1)))]
    columns.take(0, shares)

    columns.take(0, shares, sign=-1)

    assert columns.occupied == {}
    assert not columns.slots_used.any()


def test_taking_the_same_shares_from_a_view_gives_the_columns_view() -> None:
    columns = DeviceColumns("NVIDIA", 1)
    columns.set_row(0, Inventory("NVIDIA", (card(), mig_card("GPU-1"))))
    shares = (
        Share(position=1, memory_mib=5120, cores=14, occupied=(MigPlacement(2, 1),)),
        Share(position=0, slots=2, memory_mib=7),
        Share(position=0, slots=0, is_opaque=True),
    )
    before = columns.view(0)

    columns.take(0, shares)

    assert before is not None
    assert columns.view(0) == before.plus(shares)


def test_the_load_is_the_same_however_shares_were_counted() -> None:
    columns = DeviceColumns("NVIDIA", 4)
    for row in range(3):
        columns.set_row(row, Inventory("NVIDIA", cards(3)))
    shares = [Share(position=0, memory_mib=7001, cores=33), Share(position=2, memory_mib=123)]

    columns.take(0, shares)
    columns.take_all([(1, share) for share in shares])
    columns.copy_row(0, 2)
    columns.copy_row(0, 3)
    columns.set_row(3, None)

    part = np.float32(2) / np.float32(columns.slots_total[0].sum())
    part += np.float32(33) / np.float32(columns.cores_total[0].sum())
    part += np.float32(7124) / np.float32(columns.memory_total[0].sum())
    assert columns.load.tolist() == [float(part * np.float32(10))] * 3 + [0.0]
