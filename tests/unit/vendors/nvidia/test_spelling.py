"""How a portion of devices is written down for NVIDIA cards."""

import pytest

from springtide.engine.placement.family import Portion, Spelling
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import Nvidia, NvidiaConfig


def spelled(portion: Portion, config: NvidiaConfig | None = None) -> dict[str, str]:
    """Return the requests and annotations of a portion that can be had."""
    answer = Nvidia(config).spell(portion)
    assert isinstance(answer, Spelling)
    return {name: str(amount) for name, amount in answer.requests} | dict(answer.annotations)


def test_whole_cards_are_a_count_alone() -> None:
    assert spelled(Portion(count=4)) == {"nvidia.com/gpu": "4"}


def test_a_part_of_a_card_has_memory_and_cores() -> None:
    assert spelled(Portion(memory_mib=5000, cores=30)) == {
        "nvidia.com/gpu": "1",
        "nvidia.com/gpumem": "5k",
        "nvidia.com/gpucores": "30",
    }


def test_memory_is_rounded_up_to_the_unit_of_the_configuration() -> None:
    config = NvidiaConfig(memory_factor=1000)

    assert spelled(Portion(memory_mib=2500), config)["nvidia.com/gpumem"] == "3"


def test_a_type_avoids_longer_names_that_contain_it() -> None:
    portion = Portion(types=("NVIDIA-A10",), other_types=("NVIDIA-A100", "NVIDIA-T4"))

    answer = spelled(portion)

    assert answer["nvidia.com/use-gputype"] == "NVIDIA-A10"
    assert answer["nvidia.com/nouse-gputype"] == "NVIDIA-A100"


@pytest.mark.parametrize(
    ("config", "portion", "what"),
    [
        (NvidiaConfig(memory_name=""), Portion(memory_mib=1), "device memory"),
        (NvidiaConfig(cores_name=""), Portion(cores=1), "device cores"),
    ],
)
def test_what_has_no_resource_cannot_be_asked(
    config: NvidiaConfig, portion: Portion, what: str
) -> None:
    answer = Nvidia(config).spell(portion)

    assert isinstance(answer, Refusal)
    assert answer.text == f"the device configuration of NVIDIA has no resource for {what}"
