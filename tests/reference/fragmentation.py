"""The policy `fragmentation` from its definition: one node, one device and one shape at a time.

This is what the policy is compared with. Nothing is remembered but which pods came.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor

import numpy as np
from msgspec.structs import replace

from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask, DeviceFamily, Portion
from springtide.model.device import Device, DeviceView, Use
from springtide.model.ledger import Ledger

STEP_MILLI = 80
PARTS = 16

Kind = tuple[tuple[Ask, ...], int]
Shape = tuple[Kind, int]
"""What is asked of devices and of CPU, and how many pods ask it."""
Placed = list[tuple[Device, Use]]


def shapes_of(seen: Sequence[PodClass]) -> list[Shape]:
    """Return the commonest kinds among the pods seen, as of the last time that they were picked."""
    asking = [each for each in seen if each.asks]
    picked_at, due = 0, 64
    while due <= len(asking):
        picked_at, due = due, 3 * due
    known = asking[:picked_at]
    counts = Counter(map(kind_of, known))
    shapes: list[Shape] = []
    covered = 0
    for kind, count in sorted(counts.items(), key=lambda item: -item[1]):
        if covered >= 0.95 * len(known):
            break
        covered += count
        shapes.append((kind, count))
    return shapes


def kind_of(pod_class: PodClass) -> Kind:
    return pod_class.asks, max(dict(pod_class.amounts).get("cpu", 0), 1)


class Definition:
    """Scores and ranks under these shapes."""

    def __init__(self, families: Mapping[str, DeviceFamily], shapes: Sequence[Shape]) -> None:
        self.families = families
        self.shapes = shapes

    def score(self, pod_class: PodClass, ledger: Ledger, row: int) -> float:
        """Return how little the shapes lose if a pod of this class goes to the row."""
        amounts = dict(pod_class.amounts)
        cpu = ledger.resources.free(row).get("cpu", 0)
        gain = 0
        for family in ledger.devices:
            view = ledger.view(row, family)
            devices = [] if view is None else devices_of(view)
            after = devices
            for ask in pod_class.asks:
                if ask.family == family:
                    after = self.served(devices, ask)
            gain += self.lost(family, devices, cpu=cpu)
            gain -= self.lost(family, after, cpu=cpu - amounts.get("cpu", 0))
        step = PARTS * STEP_MILLI * sum(weight for _, weight in self.shapes)
        return float(gain // max(step, 1))

    def lost(self, family: str, devices: Placed, *, cpu: int) -> int:
        """Return what shapes cannot use of a node's devices, in parts and weighted."""
        lost = 0
        for (asks, cpu_asked), weight in self.shapes:
            ask = next((each for each in asks if each.family == family), None)
            offers = [
                self.free(family, device, use)
                for device, use in devices
                if takes(device, use, self.portion(ask, device))
            ]
            count, need = self.bounds(ask, devices)
            room = np.float32(cpu) / np.float32(cpu_asked)
            usable = 0
            if len(offers) >= count and room >= 1:
                lasting = min(sum(offers), floor(room * np.float32(need)))
                usable = (PARTS - 1) * sum(offers) + lasting
            everything = sum(self.free(family, device, use) for device, use in devices)
            lost += weight * (PARTS * everything - usable)
        return lost

    def bounds(self, ask: Ask | None, devices: Placed) -> tuple[int, int]:
        """Return how many of a node's devices a pod takes, and what these amount to."""
        portions = [
            (device, portion) for device, _ in devices if (portion := self.portion(ask, device))
        ]
        counts = [portion.count for _, portion in portions]
        needs = [
            portion.count * self.milli(ask.family, device, portion)
            for device, portion in portions
            if ask is not None
        ]
        return max(counts, default=1), max(needs, default=0)

    def served(self, devices: Placed, ask: Ask) -> Placed:
        """Return the devices once those that are spoilt least have served the ask."""
        count, _ = self.bounds(ask, devices)
        ranked = [(rank, position) for position, rank in enumerate(self.spoilt(devices, ask))]
        picked = {position for rank, position in sorted(ranked)[:count] if rank < (float("inf"),)}
        return [
            (device, more(use, self.portion(ask, device)) if position in picked else use)
            for position, (device, use) in enumerate(devices)
        ]

    def spoilt(self, devices: Placed, ask: Ask) -> list[tuple[float, ...]]:
        """Return per device how much of it is lost to the shapes if it serves, and what it has free."""
        found: list[tuple[float, ...]] = []
        for device, use in devices:
            portion = self.portion(ask, device)
            if not takes(device, use, portion):
                found.append((float("inf"),))
                continue
            change = self.alone(ask.family, device, more(use, portion)) - self.alone(
                ask.family, device, use
            )
            found.append((change, self.free(ask.family, device, use)))
        return found

    def alone(self, family: str, device: Device, use: Use) -> int:
        """Return what of this device no shape takes, weighted."""
        free = self.free(family, device, use)
        return sum(
            weight * free
            for (asks, _), weight in self.shapes
            if not any(
                each.family == family and takes(device, use, self.portion(each, device))
                for each in asks
            )
        )

    def ranks(self, ask: Ask, view: DeviceView) -> tuple[int, ...]:
        """Return in which order a node's devices are tried."""
        spoilt = self.spoilt(devices_of(view), ask)
        order = sorted(set(spoilt))
        return tuple(order.index(each) for each in spoilt)

    def portion(self, ask: Ask | None, device: Device) -> Portion | None:
        return None if ask is None else self.families[ask.family].portion(ask, device)

    def free(self, family: str, device: Device, use: Use) -> int:
        if use.opaque or not device.is_healthy:
            return 0
        left = Portion(
            memory_mib=device.memory_mib - use.memory_mib, cores=device.cores - use.cores
        )
        return self.milli(family, device, left)

    def milli(self, family: str, device: Device, portion: Portion) -> int:
        """Return a portion of a device in thousandths: the mean of memory and of cores, if asked for."""
        memory = 1000 * max(portion.memory_mib, 0) // max(device.memory_mib, 1)
        portions = [
            self.portion(each, device)
            for (asks, _), _ in self.shapes
            for each in asks
            if each.family == family
        ]
        if not any(each is not None and each.cores for each in portions):
            return memory
        return (memory + 1000 * max(portion.cores, 0) // max(device.cores, 1)) // 2


def devices_of(view: DeviceView) -> Placed:
    return list(zip(view.inventory.devices, view.uses, strict=True))


def takes(device: Device, use: Use, portion: Portion | None) -> bool:
    return (
        portion is not None
        and not use.opaque
        and use.slots < device.slots
        and use.memory_mib + portion.memory_mib <= device.memory_mib
        and use.cores + portion.cores <= device.cores
    )


def more(use: Use, portion: Portion | None) -> Use:
    assert portion is not None
    return replace(
        use,
        slots=use.slots + 1,
        memory_mib=use.memory_mib + portion.memory_mib,
        cores=use.cores + portion.cores,
    )
