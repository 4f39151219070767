"""What HAMi's admission webhook makes of a pod that asks for Ascend NPUs, or why it denies the pod.

Memory is rounded up to the next template, and chips that form modules are given in twos. A pod from a
file or a workload's template has not been through this; without it, it would ask for something else.
"""

from functools import lru_cache, partial
from typing import Final

from springtide.base.quantity import Quantity
from springtide.engine.placement.amounts import each_admitted, first, with_amount
from springtide.engine.placement.family import Additions
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import lookup
from springtide.vendors.ascend.config import FAMILY_NAME, AscendConfig, Chip

_SPECS_MAX: Final = 16384


@lru_cache(maxsize=_SPECS_MAX)
def admitted(spec: PodSpec, config: AscendConfig, *, is_soft: bool) -> PodSpec | Refusal:
    """Return the spec as it is stored (the same object if nothing changes), or a denial."""
    return each_admitted(spec, partial(_admitted, config=config, is_soft=is_soft))


def additions_of(pod: Pod, config: AscendConfig) -> Additions:
    """Return the variables that the containers of a pod with its resources filled in are given."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    taken = [
        chip
        for container in containers
        for chip in config.chips
        if _limit(container, chip.count_name) is not None
    ]
    return Additions(
        environment=tuple(
            (container.name, "ASCEND_VISIBLE_DEVICES", "")
            for container in containers
            for chip in config.chips
            if chip.hides_chips and _limit(container, chip.count_name) is None
        ),
        runtime_class=next((chip.runtime_class for chip in taken if chip.runtime_class), ""),
        is_taken=bool(taken),
    )


def _admitted(container: Container, *, config: AscendConfig, is_soft: bool) -> Container | Refusal:
    for chip in config.chips:
        answer = _with_chip(container, chip, is_soft=is_soft)
        if isinstance(answer, Refusal):
            return answer
        container = answer
    return container


def _with_chip(container: Container, chip: Chip, *, is_soft: bool) -> Container | Refusal:
    asked = _limit(container, chip.count_name)
    if asked is None:
        return container
    count = asked.value()
    if chip.is_paired and chip.is_super_pod:
        if count != 1 and count % 2:
            return _denied(f"{chip.word} device request must be 1 or 2*n, got {count}")
        if count == 1:
            container = with_amount(container, chip.count_name, 2)
    cores = first(container, chip.cores_name)
    if not is_soft and cores is not None and cores.value() > 0:
        return _denied(f"{chip.cores_name} is only supported in hami-core (soft split) mode")
    memory_mib = _memory(container, chip, is_soft=is_soft)
    if isinstance(memory_mib, Refusal):
        return memory_mib
    if count > 1 and not is_soft and memory_mib != chip.allocatable_mib:
        return _denied("vNPU not supported for multiple devices")
    return with_amount(container, chip.memory_name, memory_mib) if chip.memory_name else container


def _memory(container: Container, chip: Chip, *, is_soft: bool) -> int | Refusal:
    """Return the memory that is written into the container."""
    asked = _limit(container, chip.memory_name)
    if asked is None:
        return chip.allocatable_mib
    if is_soft:
        return asked.value()
    trimmed = chip.trimmed(asked.value()).memory_mib
    if trimmed <= 0:
        return _denied(f"{chip.memory_name} {asked.value()} is invalid")
    return trimmed


def _limit(container: Container, name: str) -> Quantity | None:
    return lookup(container.limits, name) if name else None


def _denied(reason: str) -> Refusal:
    return Refusal(rule=FAMILY_NAME, reasons=(reason,), is_unresolvable=True)
