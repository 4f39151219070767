"""What a pod wishes of NVIDIA cards, as amounts that could be lowered one by one."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from springtide.engine.placement.wishes import Wish, WishKind, wished
from springtide.model.pod import Container, Pod
from springtide.vendors.nvidia.ask import PERCENT
from springtide.vendors.nvidia.config import NvidiaConfig


def wishes_of(pod: Pod, config: NvidiaConfig) -> tuple[Wish, ...]:
    """Return the wishes of a pod whose ask makes sense; those of no container are left out.

    Whoever asks for a whole card gets all its cores (admission sees to it), and no longer does once
    a part of the card is asked for.
    """
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return tuple(_asked(containers, _patterns(config)))


def _patterns(config: NvidiaConfig) -> Iterator[Wish]:
    """Yield the wishes that can be made, with nothing asked yet."""
    marker = config.count_name
    yield Wish(
        kind=WishKind.MEMORY,
        resource=config.memory_name,
        marker=marker,
        asked=0,
        default=config.default_memory_mib or None,
        factor=max(config.memory_factor, 1),
    )
    yield Wish(
        kind=WishKind.MEMORY_PART,
        resource=config.percentage_name,
        marker=marker,
        asked=0,
        default=None if config.default_memory_mib else PERCENT,
        overruled_by=config.memory_name,
        whole_only=config.cores_name,
    )
    yield Wish(
        kind=WishKind.CORES,
        resource=config.cores_name,
        marker=marker,
        asked=0,
        least=0,
        default=config.default_cores,
    )
    yield Wish(kind=WishKind.DEVICES, resource=config.count_name, marker=marker, asked=0)


def _asked(containers: Sequence[Container], patterns: Iterator[Wish]) -> Iterator[Wish]:
    for pattern in patterns:
        amounts = (wished(container, pattern) for container in containers)
        asked = max((amount for amount in amounts if amount), default=0)
        if pattern.resource and asked:
            yield _with_amount(pattern, asked)


def _with_amount(pattern: Wish, asked: int) -> Wish:
    # Only a whole card comes with all of its cores.
    is_part = pattern.kind is WishKind.MEMORY_PART and asked < PERCENT
    return replace(pattern, asked=asked, whole_only="" if is_part else pattern.whole_only)
