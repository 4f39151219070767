"""Least waste: the group whose new nodes stay least empty.

Cluster Autoscaler adds the unused parts of cpu and memory of the new nodes. Devices are what makes
a node dear, so the unused parts of device memory and device cores are added too; a group without
devices wastes none.
"""

from collections.abc import Sequence

import msgspec

from springtide.base.names import CPU, MEMORY
from springtide.engine.capacity.options import Judgement, Option
from springtide.engine.framework.requests import pod_requests
from springtide.model.resources import amounts


class Waste(msgspec.Struct, frozen=True, kw_only=True):
    """Unused parts of an option's new nodes, 0 to 1; None where the group has no such thing."""

    cpu: float
    memory: float
    device_memory: float | None = None
    device_cores: float | None = None

    @property
    def total(self) -> float:
        """Return the sum that is compared."""
        return self.cpu + self.memory + (self.device_memory or 0) + (self.device_cores or 0)

    @property
    def text(self) -> str:
        """Return what stays free, in words: everything that is compared."""
        parts = (
            ("device memory", self.device_memory),
            ("device cores", self.device_cores),
            ("cpu", self.cpu),
            ("memory", self.memory),
        )
        shares = [f"{part:.0%} of {name}" for name, part in parts if part is not None]
        return f"{', '.join(shares[:-1])} and {shares[-1]} stay free"


class LeastWaste:
    """Keeps the options with the smallest waste; exact ties stay."""

    name = "least-waste"

    def judge(self, options: Sequence[Option]) -> list[Judgement]:
        """Return a judgement for every option."""
        wastes = [waste(option) for option in options]
        least = min(item.total for item in wastes)
        return [
            Judgement(option, item.total == least, item.text)
            for option, item in zip(options, wastes, strict=True)
        ]


def waste(option: Option) -> Waste:
    """Return the unused parts of the option's new nodes."""
    capacity = amounts(option.template.node.capacity)
    count = option.node_count
    wanted = {CPU: 0, MEMORY: 0}
    for pod in option.estimate.placed:
        requests = pod_requests(pod.spec)
        for name in wanted:
            wanted[name] += requests.get(name, 0)
    devices = option.estimate.devices
    memory_total = _of_all(option, sum(item.memory_total_mib for item in devices))
    cores_total = _of_all(option, sum(item.cores_total for item in devices))
    return Waste(
        cpu=_unused(wanted[CPU], count * capacity.get(CPU, 0)),
        memory=_unused(wanted[MEMORY], count * capacity.get(MEMORY, 0)),
        device_memory=_unused(sum(item.memory_used_mib for item in devices), memory_total)
        if memory_total
        else None,
        device_cores=_unused(sum(item.cores_used for item in devices), cores_total)
        if cores_total
        else None,
    )


def _of_all(option: Option, total: int) -> int:
    """Return what all nodes have that are paid for, from what those have that take pods."""
    return total * option.node_count // max(1, option.estimate.node_count)


def _unused(used: int, total: int) -> float:
    return (total - used) / total if total else 0.0
