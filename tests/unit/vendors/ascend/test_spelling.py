"""How a portion of devices is written down for Ascend chips."""

import pytest

from springtide.engine.placement.family import Portion, Spelling
from springtide.model.refusal import Refusal
from springtide.vendors.ascend import FAMILY


def test_whole_chips_are_a_count_alone() -> None:
    answer = FAMILY.spell(Portion(count=2, types=("Ascend910B3",)))

    assert isinstance(answer, Spelling)
    assert [(name, str(amount)) for name, amount in answer.requests] == [
        ("huawei.com/Ascend910B3", "2")
    ]


def test_a_part_of_a_chip_has_memory() -> None:
    answer = FAMILY.spell(Portion(memory_mib=8192, types=("Ascend910B4",)))

    assert isinstance(answer, Spelling)
    assert dict(answer.requests)["huawei.com/Ascend910B4-memory"].value() == 8192


def test_the_exact_word_wins_over_a_part_of_it() -> None:
    answer = FAMILY.spell(Portion(types=("Ascend910B4-1",)))

    assert isinstance(answer, Spelling)
    assert [name for name, _ in answer.requests] == ["huawei.com/Ascend910B4-1"]


@pytest.mark.parametrize(
    "portion",
    [
        Portion(),
        Portion(types=("Ascend910A", "Ascend310P")),
        Portion(types=("Ascend310P",), cores=10),
        Portion(types=("Other",)),
    ],
)
def test_what_is_not_one_kind_of_chip_cannot_be_asked(portion: Portion) -> None:
    assert isinstance(FAMILY.spell(portion), Refusal)
