"""The one table of device families: who answers for which accelerator."""

from collections.abc import Callable, Mapping

import msgspec

from springtide.engine.placement.family import DeviceFamily
from springtide.vendors import ascend, nvidia


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduler's own placement policies, for pods that name none (HAMi's flags).

    Strictly, placements have HAMi's peculiarities too.
    """

    node: str = "binpack"
    device: str = "spread"
    is_strict: bool = False


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
