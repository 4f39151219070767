"""What HAMi's admission webhook adds to a pod that asks for NVIDIA cards.

A pod that exists was admitted already; a pod from a file or a workload's template was not, and
without these defaults it would ask for something else than it will once it is created.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Final

from springtide.engine.placement.amounts import each_admitted, first, with_amount
from springtide.engine.placement.family import Additions
from springtide.engine.placement.trial import PERCENT
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import lookup
from springtide.vendors.nvidia.config import FAMILY_NAME, NvidiaConfig

_SPECS_MAX: Final = 16384


@lru_cache(maxsize=_SPECS_MAX)
def admitted(spec: PodSpec, config: NvidiaConfig) -> PodSpec | Refusal:
    """Return the spec with defaults filled in (the same object if none is missing), or a denial."""
    return each_admitted(spec, partial(_admitted, config=config))


def additions_of(pod: Pod, config: NvidiaConfig) -> Additions:
    """Return the variables that the containers of a pod with its resources filled in are given."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    found = [_has_cards(each, config) for each in containers]
    pairs = zip(containers, found, strict=True)
    return Additions(
        environment=tuple(
            (container.name, name, value)
            for container, has_cards in pairs
            for name, value in _variables(container, config, has_cards=has_cards)
        ),
        runtime_class=config.runtime_class if any(found) else "",
        is_taken=any(found),
    )


def _variables(
    container: Container, config: NvidiaConfig, *, has_cards: bool
) -> Iterator[tuple[str, str]]:
    priority = lookup(container.limits, config.priority_name) if config.priority_name else None
    if priority is not None:
        yield "CUDA_TASK_PRIORITY", str(priority.value())
    if config.core_policy not in {"", "default"}:
        yield "GPU_CORE_UTILIZATION_POLICY", config.core_policy
    if config.hides_cards and not has_cards:
        yield "NVIDIA_VISIBLE_DEVICES", "none"


def _has_cards(container: Container, config: NvidiaConfig) -> bool:
    """Return whether cards are limited, or requested and given with all cores by admission."""
    if not config.count_name or first(container, config.count_name) is None:
        return False
    named = (config.count_name, config.cores_name)
    return any(name and lookup(container.limits, name) is not None for name in named)


def _admitted(container: Container, config: NvidiaConfig) -> Container | Refusal:
    pct = first(container, config.percentage_name)
    if pct is not None and not 0 <= pct.value() <= PERCENT:
        return Refusal(
            rule=FAMILY_NAME,
            reasons=(_denial(container.name, config.percentage_name, pct.value()),),
            is_unresolvable=True,
        )
    if _misses_count(container, config):
        container = with_amount(container, config.count_name, config.default_count)
    if _is_exclusive(container, config):
        container = with_amount(container, config.cores_name, PERCENT)
    return container


def _denial(container: str, name: str, value: int) -> str:
    return (
        f"invalid {name} value {value} in container {container}: "
        f"must be an integer between 0 and {PERCENT}"
    )


def _misses_count(container: Container, config: NvidiaConfig) -> bool:
    others = (config.cores_name, config.memory_name, config.percentage_name)
    return (
        config.default_count > 0
        and bool(config.count_name)
        and lookup(container.limits, config.count_name) is None
        and any(name and lookup(container.limits, name) is not None for name in others)
    )


def _is_exclusive(container: Container, config: NvidiaConfig) -> bool:
    """Return whether whole cards are asked without a word on cores, which claims all cores."""
    if first(container, config.count_name) is None or not config.cores_name:
        return False
    if first(container, config.cores_name) is not None:
        return False
    pct = first(container, config.percentage_name)
    if pct is not None:
        return pct.value() == PERCENT
    return first(container, config.memory_name) is None
