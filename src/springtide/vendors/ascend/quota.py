"""What Ascend NPUs count for against the quota of a namespace; every kind of chip has names of its own.

HAMi holds NPUs against a quota at admission only, so that placing a pod does not look at it.
"""

from collections.abc import Iterator, Mapping, Sequence

from springtide.engine.placement.collapse import collapse
from springtide.model.device import Allocation, Grant
from springtide.model.pod import Container, Pod
from springtide.model.resources import AmountList
from springtide.vendors.ascend.ask import Request, request_of
from springtide.vendors.ascend.config import AscendConfig, Chip


def factors_of(config: AscendConfig) -> Mapping[str, int]:
    """Return the resources that a quota may limit, with what its limits are multiplied by."""
    found: dict[str, int] = {}
    for chip in config.chips:
        found |= {chip.memory_name: max(chip.memory_factor, 1), chip.cores_name: 1}
    return {name: factor for name, factor in found.items() if name}


def charges_of(allocation: Allocation, config: AscendConfig) -> AmountList:
    """Return what an allocation counts for, one kind of chip after the other."""
    return tuple(pair for chip in config.chips for pair in _held(allocation, chip))


def stated_by(pod: Pod, config: AscendConfig) -> AmountList:
    """Return what a pod states outright: the larger of its apps together and its largest init."""
    return tuple(pair for chip in config.chips for pair in _stated_of(chip, pod))


def _held(allocation: Allocation, chip: Chip) -> Iterator[tuple[str, int]]:
    own = [_of_word(grants, chip.word) for grants in allocation.containers]
    if any(own):
        charges = collapse(own, allocation.init_count)
        memory_mib = sum(each.memory_mib for each in charges)
        yield from _named(chip, memory_mib, sum(each.cores for each in charges))


def _of_word(grants: Sequence[Grant], word: str) -> tuple[Grant, ...]:
    return tuple(grant for grant in grants if grant.type == word)


def _stated_of(chip: Chip, pod: Pod) -> Iterator[tuple[str, int]]:
    inits = [_stated(each, chip, pod) for each in pod.spec.init_containers]
    apps = [_stated(each, chip, pod) for each in pod.spec.containers]
    memory_mib, cores = (
        max(max((each[part] for each in inits), default=0), sum(each[part] for each in apps))
        for part in (0, 1)
    )
    if memory_mib or cores:
        yield from _named(chip, memory_mib, cores)


def _stated(container: Container, chip: Chip, pod: Pod) -> tuple[int, int]:
    request = request_of(container, chip, pod)
    if not isinstance(request, Request):
        return 0, 0
    return request.count * request.memory_mib, request.count * request.cores


def _named(chip: Chip, memory_mib: int, cores: int) -> AmountList:
    pairs = ((chip.memory_name, memory_mib), (chip.cores_name, cores))
    return tuple((name, amount) for name, amount in pairs if name)
