"""The one table of device families: who answers for which accelerator."""

from collections.abc import Callable, Mapping

import msgspec

from springtide.engine.placement.family import DeviceFamily
from springtide.vendors.nvidia import Nvidia, config_from


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduler's own placement policies, for pods that name none (HAMi's flags)."""

    node: str = "binpack"
    device: str = "spread"


DeviceConfig = Mapping[str, object]
FAMILIES: Mapping[str, Callable[[DeviceConfig, Policies], DeviceFamily]] = {
    "NVIDIA": lambda config, policies: Nvidia(
        config=config_from(_section(config, "nvidia")),
        node_policy=policies.node,
        device_policy=policies.device,
    ),
}


def families(config: DeviceConfig | None, policies: Policies) -> dict[str, DeviceFamily]:
    """Return every family, set up from HAMi's device configuration or with its defaults."""
    return {name: make(config or {}, policies) for name, make in FAMILIES.items()}


def _section(config: DeviceConfig, name: str) -> Mapping[str, object]:
    section = config.get(name)
    return section if isinstance(section, Mapping) else {}
