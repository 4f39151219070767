"""What a pod wishes of NPUs."""

from springtide.vendors.ascend import FAMILY
from tests.builders import pod


def wishes(**amounts: int) -> dict[str, int]:
    """Return the amounts by resource, for a pod that asks so much."""
    others = {f"huawei.com/{name.replace('_', '-')}": each for name, each in amounts.items()}
    return {each.resource: each.asked for each in FAMILY.wishes(pod(others=others))}


def test_memory_and_the_number_of_chips_are_wishes() -> None:
    found = wishes(Ascend910B3=1, Ascend910B3_memory=16384)

    assert found == {"huawei.com/Ascend910B3-memory": 16384, "huawei.com/Ascend910B3": 1}


def test_a_bare_number_of_chips_wishes_for_all_of_their_memory() -> None:
    found = wishes(Ascend910B3=2)

    assert found == {"huawei.com/Ascend910B3-memory": 65536, "huawei.com/Ascend910B3": 2}


def test_a_pod_without_chips_wishes_for_nothing() -> None:
    assert wishes() == {}
