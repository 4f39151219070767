"""The `nvidia` section of HAMi's device configuration, as far as scheduling reads it."""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.engine.placement.configured import read_section

FAMILY_NAME: Final = "NVIDIA"
"""The family's name: HAMi's common word, and the type that requests and allocations carry."""


class NvidiaConfig(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """Resource names and defaults; an empty name means that the resource is not managed.

    `default_memory_mib` 0 means the whole card when a pod gives neither memory nor percentage.
    `default_count` is the number of cards injected where only other resources are given; 0 or less
    injects none. `memory_factor` multiplies the memory that pods ask for. Admission sets
    `runtime_class` where a pod has none, tells containers about a `core_policy` other than `default`,
    and if it `hides_cards`, those without cards not to see any.
    """

    count_name: str = msgspec.field(name="resourceCountName", default="nvidia.com/gpu")
    memory_name: str = msgspec.field(name="resourceMemoryName", default="nvidia.com/gpumem")
    percentage_name: str = msgspec.field(
        name="resourceMemoryPercentageName", default="nvidia.com/gpumem-percentage"
    )
    cores_name: str = msgspec.field(name="resourceCoreName", default="nvidia.com/gpucores")
    priority_name: str = msgspec.field(name="resourcePriorityName", default="nvidia.com/priority")
    default_memory_mib: int = msgspec.field(name="defaultMemory", default=0)
    default_cores: int = msgspec.field(name="defaultCores", default=0)
    default_count: int = msgspec.field(name="defaultGPUNum", default=1)
    memory_factor: int = msgspec.field(name="memoryFactor", default=1)

    hides_cards: bool = msgspec.field(name="overwriteEnv", default=False)
    core_policy: str = msgspec.field(name="gpuCorePolicy", default="")
    runtime_class: str = msgspec.field(name="runtimeClassName", default="")

    @property
    def names(self) -> frozenset[str]:
        """Return the resource names in use."""
        names = (
            self.count_name,
            self.memory_name,
            self.percentage_name,
            self.cores_name,
            self.priority_name,
        )
        return frozenset(name for name in names if name)


def config_from(document: Mapping[str, object]) -> NvidiaConfig:
    """Return the configuration in a decoded device configuration, or raise InvalidConfig."""
    section = document.get("nvidia")
    return read_section(
        section if isinstance(section, Mapping) else {}, NvidiaConfig, name="nvidia"
    )
