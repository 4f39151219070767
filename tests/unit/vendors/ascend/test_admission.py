"""What the webhook makes of containers that ask for chips, as HAMi's own tests and recordings have it."""

import pytest

from springtide.vendors.ascend import FAMILY, Ascend, config_from
from tests.unit.vendors.ascend.building import SOFT, container, limits_after, pod, resources

Limits = dict[str, str | int]
ONE_MODULE = "Ascend910C device request must be 1 or 2*n, got 3"


@pytest.mark.parametrize(
    ("word", "limits", "expected"),
    [
        ("Ascend910A", {"count": 1, "memory": 5000}, 8738),
        ("Ascend910A", {"count": 1, "memory": 20000}, 32768),
        ("Ascend910A", {"count": 1, "memory": 40000}, "huawei.com/Ascend910A-memory 40000 is invalid"),
        ("Ascend910A", {"count": 1}, 32768),
        ("Ascend910A", {"count": 2}, 32768),
        ("Ascend910A", {"count": 1, "memory": 0}, 2184),
        ("Ascend310P", {"count": 1, "memory": 22000}, 21527),
        ("Ascend910A", {"count": 2, "memory": 5000}, "vNPU not supported for multiple devices"),
    ],
)  # fmt: skip
def test_t104_t105_memory_is_rounded_up_to_a_template(
    word: str, limits: Limits, expected: int | str
) -> None:
    answer = limits_after(container("main", word, **limits))

    if isinstance(expected, int):
        assert answer == resources(word, limits | {"memory": expected})
    else:
        assert answer == expected


@pytest.mark.parametrize(("count", "expected"), [(1, 2), (2, 2), (4, 4), (3, ONE_MODULE)])
def test_t106_modules_are_asked_whole(count: int, expected: int | str) -> None:
    answer = limits_after(container("main", "Ascend910C", count=count))

    if isinstance(expected, int):
        assert answer == resources("Ascend910C", {"count": expected, "memory": 65536})
    else:
        assert answer == expected


def test_one_chip_of_a_module_with_a_template_becomes_two() -> None:
    answer = limits_after(container("main", "Ascend910C", count=1, memory=16000))

    assert answer == resources("Ascend910C", {"count": 2, "memory": 16384})


def test_cores_are_for_the_soft_split_only() -> None:
    cut = container(count=1, memory=16384, core=30)

    hard, soft = limits_after(cut), limits_after(cut, annotations=SOFT)

    assert hard == "huawei.com/Ascend910B3-core is only supported in hami-core (soft split) mode"
    assert soft == cut.limits


def test_memory_of_the_soft_split_is_left_as_it_is() -> None:
    free = container(count=2, memory=5000)

    assert limits_after(free, annotations=SOFT) == free.limits


@pytest.mark.parametrize("limits", [{}, {"cpu": 4}, {"memory": 5000}])
def test_a_container_without_chips_stays_as_it_is(limits: Limits) -> None:
    plain = pod(container(**limits))

    assert FAMILY.admit(plain) == plain.spec


def test_init_containers_are_admitted_too() -> None:
    spec = FAMILY.admit(pod(container(), init=[container(count=1)]))

    assert spec != pod(container(), init=[container(count=1)]).spec


def test_templates_count_from_the_smallest_whatever_their_order() -> None:
    chip = {
        "commonWord": "X",
        "resourceName": "x/npu",
        "resourceMemoryName": "x/mem",
        "memoryAllocatable": 100,
        "memoryCapacity": 100,
        "templates": [{"name": "big", "memory": 50}, {"name": "small", "memory": 20}],
    }
    family = Ascend(config_from({"vnpus": {"configs": [chip]}}))

    after = limits_after(container(**{"x/npu": 1, "x/mem": 10}), family=family)

    assert after == container(**{"x/npu": 1, "x/mem": 20}).limits
