"""What a pod wishes of NVIDIA cards, as amounts that could be lowered one by one."""

from collections.abc import Iterator

from msgspec.structs import replace

from springtide.engine.placement.trial import PERCENT
from springtide.engine.placement.wishes import Wish, WishKind, wishes_in
from springtide.model.pod import Pod
from springtide.vendors.nvidia.config import NvidiaConfig


def wishes_of(pod: Pod, config: NvidiaConfig) -> tuple[Wish, ...]:
    """Return the wishes of a pod whose ask makes sense.

    Whoever asks for a whole card gets all its cores (admission sees to it), and no longer does once
    a part of the card is asked for.
    """
    found = wishes_in(pod, _patterns(config))
    return tuple(replace(each, whole_only="") if _is_part(each) else each for each in found)


def _is_part(wish: Wish) -> bool:
    return wish.kind is WishKind.MEMORY_PART and wish.asked < PERCENT


def _patterns(config: NvidiaConfig) -> Iterator[Wish]:
    """Yield the wishes that can be made."""
    marker = config.count_name
    yield Wish(
        kind=WishKind.MEMORY,
        resource=config.memory_name,
        marker=marker,
        default=config.default_memory_mib or None,
        factor=max(config.memory_factor, 1),
    )
    yield Wish(
        kind=WishKind.MEMORY_PART,
        resource=config.percentage_name,
        marker=marker,
        default=None if config.default_memory_mib else PERCENT,
        overruled_by=config.memory_name,
        whole_only=config.cores_name,
    )
    yield Wish(
        kind=WishKind.CORES,
        resource=config.cores_name,
        marker=marker,
        least=0,
        default=config.default_cores,
    )
    yield Wish(kind=WishKind.DEVICES, resource=config.count_name, marker=marker)
