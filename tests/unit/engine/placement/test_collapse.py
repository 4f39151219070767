"""What a pod as a whole costs on each device."""

import pytest

from springtide.engine.placement.collapse import Charge, collapse
from springtide.model.device import Grant

Sized = list[tuple[str, int, int]]


def grants(sizes: Sized) -> tuple[Grant, ...]:
    return tuple(
        Grant(device_id=device_id, type="NVIDIA", memory_mib=memory_mib, cores=cores)
        for device_id, memory_mib, cores in sizes
    )


@pytest.mark.parametrize(
    ("init", "app", "charges"),
    [
        ([], [[("a", 1000, 10)]], [("a", 1000, 10, 1)]),
        ([[("a", 20000, 10)]], [[("a", 10000, 5)]], [("a", 20000, 10, 1)]),
        (
            [[("a", 1000, 10)], [("a", 3000, 5)]],
            [[("a", 2000, 20)]],
            [("a", 3000, 20, 1)],
        ),
        ([], [[("a", 10000, 5)], [("a", 10000, 5)]], [("a", 20000, 10, 2)]),
        (
            [[("a", 5000, 50)]],
            [[("b", 3000, 30)]],
            [("a", 5000, 50, 1), ("b", 3000, 30, 1)],
        ),
        ([], [[("b", 1, 1), ("a", 2, 2)]], [("a", 2, 2, 1), ("b", 1, 1, 1)]),
        ([], [[("a", -500, -3)]], [("a", 0, 0, 1)]),
    ],
)
def test_init_containers_cost_their_maximum_and_app_containers_their_sum(
    init: list[Sized], app: list[Sized], charges: list[tuple[str, int, int, int]]
) -> None:
    containers = [grants(sizes) for sizes in (*init, *app)]

    found = collapse(containers, init_count=len(init))

    assert found == tuple(
        Charge(device_id=device_id, memory_mib=memory_mib, cores=cores, slots=slots)
        for device_id, memory_mib, cores, slots in charges
    )
