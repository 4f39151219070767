"""What a pod takes of each card, as one amount."""

from springtide.engine.placement.family import Portion
from springtide.vendors.nvidia import Nvidia, NvidiaAsk
from tests.builders import card, pod

FAMILY = Nvidia()


def portion(annotations: dict[str, str] | None = None, **amounts: int) -> Portion | None:
    ask = FAMILY.ask(pod(annotations=annotations, **amounts))  # type: ignore[arg-type]  # names of amounts
    assert isinstance(ask, NvidiaAsk)
    return FAMILY.portion(ask, card(memory=24_000, model="NVIDIA-A10"))


def test_memory_and_cores_are_of_each_card() -> None:
    assert portion(gpu=2, gpumem=3000, gpucores=30) == Portion(count=2, memory_mib=3000, cores=30)


def test_whole_cards_are_asked_for_where_nothing_is_said() -> None:
    assert portion(gpu=1) == Portion(count=1, memory_mib=24_000)


def test_a_card_of_another_type_gives_nothing() -> None:
    assert portion({"nvidia.com/use-gputype": "H100"}, gpu=1) is None


def test_a_broken_card_gives_nothing() -> None:
    ask = FAMILY.ask(pod(gpu=1))
    assert isinstance(ask, NvidiaAsk)

    assert FAMILY.portion(ask, card(is_healthy=False)) is None


def test_ids_play_no_part() -> None:
    assert portion({"nvidia.com/use-gpuuuid": "GPU-9"}, gpu=1) is not None
