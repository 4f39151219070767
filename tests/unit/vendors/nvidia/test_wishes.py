"""What a pod wishes of cards."""

from springtide.engine.placement.wishes import WishKind
from springtide.model.pod import Pod
from springtide.vendors.nvidia import Nvidia, config_from
from tests.builders import pod


def wishes(who: Pod, **config: object) -> dict[str, int]:
    """Return the amounts by resource."""
    found = Nvidia(config_from({"nvidia": config})).wishes(who)
    return {each.resource.removeprefix("nvidia.com/"): each.asked for each in found}


def test_memory_cores_and_cards_are_wishes() -> None:
    found = wishes(pod(gpu=2, gpumem=500, gpucores=30))

    assert found == {"gpumem": 500, "gpucores": 30, "gpu": 2}


def test_a_bare_number_of_cards_wishes_for_all_of_their_memory() -> None:
    found = wishes(pod(gpu=1, gpucores=100))

    assert found == {"gpumem-percentage": 100, "gpucores": 100, "gpu": 1}


def test_a_part_of_the_memory_is_a_wish() -> None:
    found = wishes(pod(gpu=1, others={"nvidia.com/gpumem-percentage": 40}))

    assert found == {"gpumem-percentage": 40, "gpu": 1}


def test_the_defaults_of_the_configuration_are_wishes() -> None:
    found = wishes(pod(gpu=1), defaultMemory=700, defaultCores=5)

    assert found == {"gpumem": 700, "gpucores": 5, "gpu": 1}


def test_a_pod_without_cards_wishes_for_nothing() -> None:
    assert wishes(pod(cpu=1)) == {}


def test_memory_is_told_in_the_unit_of_the_cards() -> None:
    family = Nvidia(config_from({"nvidia": {"memoryFactor": 2}}))

    (memory,) = (
        each for each in family.wishes(pod(gpu=1, gpumem=5)) if each.kind is WishKind.MEMORY
    )

    assert (memory.asked, memory.factor) == (5, 2)
