"""What a pod wishes of Ascend NPUs, as amounts that could be lowered one by one."""

from collections.abc import Iterator

from springtide.engine.placement.wishes import Wish, WishKind, wishes_in
from springtide.model.pod import Pod
from springtide.vendors.ascend.config import AscendConfig, Chip


def wishes_of(pod: Pod, config: AscendConfig) -> tuple[Wish, ...]:
    """Return the wishes of a pod whose ask makes sense, by kind of chip."""
    return wishes_in(pod, (wish for chip in config.chips for wish in _patterns(chip)))


def _patterns(chip: Chip) -> Iterator[Wish]:
    """Yield the wishes that can be made of one kind of chip; without a word on it, all its memory."""
    marker = chip.count_name
    yield Wish(
        kind=WishKind.MEMORY,
        resource=chip.memory_name,
        marker=marker,
        default=chip.allocatable_mib or None,
        factor=max(chip.memory_factor, 1),
    )
    yield Wish(kind=WishKind.CORES, resource=chip.cores_name, marker=marker, least=0)
    yield Wish(kind=WishKind.DEVICES, resource=chip.count_name, marker=marker)
