"""HAMi's metrics, under its names and labels, so that its dashboards and alerts stay as they are.

A cluster has hundreds of thousands of these numbers. They are written as text directly, some nodes at a
time, and others have their turn in between.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from springtide import __version__
from springtide.engine.live import Live
from springtide.engine.placement.collapse import collapse
from springtide.model.device import Device, Use
from springtide.model.pod import Pod
from springtide.vendors.nvidia.codec import MIG_ALLOCATIONS, realised
from springtide.vendors.nvidia.config import FAMILY_NAME
from springtide.vendors.nvidia.mig import MODE
from springtide.wire.hami.mig import Reservation

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
ROWS_AT_ONCE: Final = 100
PODS_AT_ONCE: Final = 500
MIB: Final = 1 << 20
_ZONE: Final = 'zone="vGPU"'

_HELP: Final = {
    "hami_gpu_memory_limit_bytes": "Memory of a device.",
    "hami_gpu_core_limit_ratio": "Cores of a device.",
    "hami_gpu_memory_allocated_bytes": "Memory of a device that pods hold.",
    "hami_gpu_shared_count": "Containers that share a device.",
    "hami_gpu_core_allocated_ratio": "Cores of a device that pods hold.",
    "hami_node_gpu_overview": "Memory of a device that pods hold, beside what it has.",
    "hami_node_gpu_memory_allocated_ratio": "Part of a device's memory that pods hold.",
    "hami_node_gpu_mig_instance_info": "A MIG instance that exists on a device for a pod.",
    "hami_resource_quota_used": "What the pods of a namespace hold of a resource.",
    "hami_resource_quota_limit": "What the pods of a namespace may hold of a resource.",
    "hami_vgpu_memory_allocated_bytes": "Memory of a device that a pod holds.",
    "hami_vgpu_core_allocated_ratio": "Cores of a device that a pod holds.",
    "hami_build_info": "The version.",
}


class _Text:
    """Lines by metric, for the format wants those of one together."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {name: [] for name in _HELP}

    def add(self, name: str, labels: str, value: float) -> None:
        """Add one number."""
        self._lines[name].append(f"{name}{{{labels}}} {value}\n")

    def bytes(self) -> bytes:
        """Return all of them."""
        parts = []
        for name, lines in self._lines.items():
            if lines:
                parts += [f"# HELP {name} {_HELP[name]}\n# TYPE {name} gauge\n", *lines]
        return "".join(parts).encode()


async def exposition(live: Live, pods: Mapping[str, Pod]) -> bytes:
    """Return the metrics as text; `pods` are those that are known, by uid."""
    text = _Text()
    for family in live.families:
        for first in range(0, live.ledger.count, ROWS_AT_ONCE):
            _add_nodes(text, live, family, range(first, first + ROWS_AT_ONCE))
            await asyncio.sleep(0)
    uids = [each.uid for each in live.holders.all()]
    for first in range(0, len(uids), PODS_AT_ONCE):
        _add_pods(text, live, uids[first : first + PODS_AT_ONCE], pods)
        await asyncio.sleep(0)
    _add_quotas(text, live)
    text.add("hami_build_info", _build(), 1)
    return text.bytes()


def _add_nodes(text: _Text, live: Live, family: str, rows: Iterable[int]) -> None:
    for row in rows:
        # Rows may have come and gone since.
        view = live.ledger.view(row, family) if row < live.ledger.count else None
        if view is None:
            continue
        node = live.ledger.names[row]
        for device, use in zip(view.inventory.devices, view.uses, strict=True):
            _add_device(text, node, device, use)


def _add_device(text: _Text, node: str, device: Device, use: Use) -> None:
    kind = f'device_type="{_safe(device.type)}"'
    named = f'node="{node}",device_uuid="{_safe(device.id)}",device_index="{device.index}"'
    plain, cores = f"{named},{kind},{_ZONE}", f'device_cores="{device.cores}"'
    limit = f'device_memory_limit="{device.memory_mib}"'
    used_bytes = use.memory_mib * MIB
    text.add("hami_gpu_memory_limit_bytes", plain, device.memory_mib * MIB)
    text.add("hami_gpu_core_limit_ratio", plain, device.cores)
    text.add("hami_gpu_memory_allocated_bytes", f"{named},{cores},{kind},{_ZONE}", used_bytes)
    text.add("hami_gpu_shared_count", plain, use.slots)
    text.add("hami_gpu_core_allocated_ratio", plain, use.cores)
    text.add("hami_node_gpu_overview", f"{named},{cores},{limit},{kind},{_ZONE}", used_bytes)
    if device.memory_mib:
        ratio = use.memory_mib / device.memory_mib
        text.add("hami_node_gpu_memory_allocated_ratio", plain, ratio)


def _add_pods(text: _Text, live: Live, uids: Iterable[str], pods: Mapping[str, Pod]) -> None:
    for uid in uids:
        held, record = live.holders.get(uid), pods.get(uid)
        if held is None or record is None:
            continue
        named = f'namespace="{held.namespace}",node="{held.node}",pod="{record.name}"'
        pod = f'{named},container_index="0"'
        for allocation in held.allocations:
            for charge in collapse(allocation.containers, allocation.init_count):
                labels = f'{pod},device_uuid="{_safe(charge.device_id)}",{_ZONE}'
                text.add("hami_vgpu_memory_allocated_bytes", labels, charge.memory_mib * MIB)
                text.add("hami_vgpu_core_allocated_ratio", labels, charge.cores)

        if MIG_ALLOCATIONS in record.annotations:
            _add_instances(text, live, held.node, record)


def _add_instances(text: _Text, live: Live, node: str, pod: Pod) -> None:
    """Add the MIG instances of a pod that its device plugin has made."""
    row = live.ledger.rows.get(node)
    view = None if row is None else live.ledger.view(row, FAMILY_NAME)
    if view is None:
        return
    cards = {each.id: each for each in view.inventory.devices if each.mode == MODE}
    for made in realised(pod):
        card = cards.get(made.device_id)
        if card is not None:
            text.add("hami_node_gpu_mig_instance_info", _instance(node, card, made), 1)


def _instance(node: str, card: Device, made: Reservation) -> str:
    return (
        f'node="{node}",device_uuid="{_safe(card.id)}",device_index="{card.index}",'
        f'mig_uuid="{_safe(made.mig_id)}",profile="{_safe(made.profile)}",'
        f'gpu_instance_id="{made.gpu_instance_id}",'
        f'compute_instance_id="{made.compute_instance_id}",'
        f'placement_start="{made.placement.start}",placement_size="{made.placement.size}",{_ZONE}'
    )


def _add_quotas(text: _Text, live: Live) -> None:
    used: dict[tuple[str, str], int] = {}
    for held in live.holders.all():
        for resource, amount in live.holders.charges(held.allocations):
            key = held.namespace, resource
            used[key] = used.get(key, 0) + amount
    limits = _limits(live)
    for (namespace, resource), amount in sorted({**dict.fromkeys(limits, 0), **used}.items()):
        limit = limits.get((namespace, resource))
        labels = f'namespace="{namespace}",quota_name="{_safe(resource)}"'
        text.add("hami_resource_quota_used", f'{labels},limit="{limit or 0}",{_ZONE}', amount)
        if limit is not None:
            text.add("hami_resource_quota_limit", f"{labels},{_ZONE}", limit)


def _limits(live: Live) -> dict[tuple[str, str], int]:
    """Return the limits as they are written, by namespace and resource."""
    factors = {
        name: factor
        for family in live.families.values()
        for name, factor in family.quota_factors().items()
    }
    return {
        (namespace, resource): limit // factors.get(resource, 1)
        for namespace, own in live.ledger.quotas.limits.items()
        for resource, limit in own.items()
    }


def _build() -> str:
    return (
        f'version="{__version__}",revision="",build_date="",go_version="",compiler="",platform=""'
    )


def _safe(text: str) -> str:
    """Return a text as a label's value: devices name themselves as they like."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
