"""HAMi's device configuration as the family reads it."""

import pytest

from springtide.engine.placement.configured import InvalidConfig
from springtide.vendors.ascend import Ascend, config_from
from springtide.vendors.ascend.config import DEFAULT_CHIPS

CHIP = {"commonWord": "Ascend910A", "resourceName": "huawei.com/Ascend910A"}


def test_without_a_configuration_the_chart_s_chips_are_known() -> None:
    assert config_from({}).chips == DEFAULT_CHIPS
    assert "huawei.com/Ascend310P-memory" in Ascend().resource_names()


def test_a_configuration_without_chips_has_none() -> None:
    assert config_from({"nvidia": {}}).chips == ()


@pytest.mark.parametrize("section", [{"configs": [CHIP]}, [CHIP]])
def test_the_chips_are_a_list_of_their_own_or_the_whole_section(section: object) -> None:
    (chip,) = config_from({"vnpus": section}).chips

    assert (chip.word, chip.count_name) == ("Ascend910A", "huawei.com/Ascend910A")
    assert chip.memory_factor == 1


def test_a_value_of_another_type_is_named() -> None:
    with pytest.raises(InvalidConfig) as fault:
        config_from({"vnpus": {"configs": [CHIP | {"memoryFactor": "two"}]}})

    assert str(fault.value).startswith("vnpus.configs[0].memoryFactor: expected `int`")


def test_the_soft_split_may_be_the_rule() -> None:
    assert config_from({"vnpus": {"hamiVnpuCore": True}}).has_soft_split
