"""The one table of device families: who answers for which accelerator."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.policy import Policy, PolicyTable
from springtide.policies import fragmentation
from springtide.vendors import ascend, nvidia


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduler's own placement policies, for pods that name none (HAMi's flags).

    Strictly, placements have HAMi's peculiarities too.
    """

    node: str = "binpack"
    device: str = "spread"
    is_strict: bool = False


SHIPPED: Final = Policies(node=fragmentation.NAME, device=fragmentation.NAME)
"""What packs best where pods stay; how it does where they go is in the documentation."""

POLICIES: Final[Mapping[str, Callable[[Mapping[str, DeviceFamily]], Policy]]] = {
    fragmentation.NAME: fragmentation.Fragmentation,
}
"""The policies beside those that are the families' own: `binpack`, `spread` and the like."""

DeviceConfig = Mapping[str, object]
"""HAMi's device configuration, decoded; empty where there is none."""

FAMILIES: Mapping[str, Callable[[DeviceConfig, Policies], DeviceFamily]] = {
    nvidia.FAMILY.name: lambda config, policies: nvidia.Nvidia(
        nvidia.config_from(config),
        node_policy=policies.node,
        device_policy=policies.device,
        is_strict=policies.is_strict,
    ),
    ascend.FAMILY.name: lambda config, policies: ascend.Ascend(
        ascend.config_from(config), node_policy=policies.node, device_policy=policies.device
    ),
}


def families(config: DeviceConfig | None, policies: Policies) -> dict[str, DeviceFamily]:
    """Return every family, set up from HAMi's device configuration or with its defaults."""
    return {name: make(config or {}, policies) for name, make in FAMILIES.items()}


def policy_table(kinds: Mapping[str, DeviceFamily], policies: Policies) -> PolicyTable:
    """Return every policy that pods can name, with the scheduler's own for those that name none."""
    return PolicyTable(
        {name: make(kinds) for name, make in POLICIES.items()}, by_default=policies.node
    )
