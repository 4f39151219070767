"""The use of one node's devices while the containers of a pod are fitted, exactly.

What fitting a container takes is charged here, so that the next container sees it. The order in which
devices are tried and the checks of their use are those of HAMi's standard fit, common to all families.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.placement import checks
from springtide.engine.placement.order import Standings, arranged, ranked_keys, sort_keys
from springtide.engine.placement.score import Load, Weights, load_score
from springtide.engine.placement.screening import Ceiling
from springtide.model.device import Device, DeviceView, Inventory

INVENTORIES_MAX: Final = 16_384
PERCENT: Final = 100


class Added(msgspec.Struct, frozen=True, gc=False):
    """What a container's requests count for on top of a device's use when devices are compared."""

    slots: int
    cores: int
    memory_mib: int


class Trial:
    """One node's devices and what is in use of them, the pod's own containers included."""

    __slots__ = (
        "_alike", "cores", "devices", "inventory", "memory_mib", "opaque", "ranks", "slots",
    )  # fmt: skip

    def __init__(self, view: DeviceView, ranks: tuple[int, ...] = ()) -> None:
        uses = view.uses
        self.ranks = ranks
        self.inventory = view.inventory
        self.devices = view.inventory.devices
        # Many nodes share these, so that they are at hand where a node's own are not.
        self._alike = view.but_for_ids.devices
        self.slots = [use.slots for use in uses]
        self.memory_mib = [use.memory_mib for use in uses]
        self.cores = [use.cores for use in uses]
        self.opaque = [use.opaque for use in uses]

    def order(
        self,
        policy: str,
        added: Callable[[Device], Added | None] | None,
        *,
        weights: Weights,
        numa_bind: bool,
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Return all positions, or those among them, in the order in which they are tried.

        `added` says what counts on top of a device's use, None where nothing does.
        """
        if self.ranks:
            keys = ranked_keys(numa_bind=numa_bind)
        else:
            keys = sort_keys(policy, numa_bind=numa_bind)
        positions = range(len(self.devices)) if among is None else among
        devices = [self._alike[position] for position in positions]
        loads = self._loads(positions, devices)
        if added is not None:
            loads = [_with(load, added(each)) for load, each in zip(loads, devices, strict=True)]
        standings = Standings(
            score=[load_score(load, weights) for load in loads],
            numa=[device.numa for device in devices],
            slots=[self.slots[position] for position in positions],
            index=[device.index for device in devices],
            rank=[self.ranks[position] for position in positions] if self.ranks else (),
        )
        order = [positions[index] for index in arranged(standings, keys)]
        order.reverse()
        return order

    def serving(self, ceilings: Sequence[Ceiling | None]) -> list[int]:
        """Return the positions of the devices whose use is below their ceilings."""
        return [
            position
            for position, ceiling in enumerate(ceilings)
            if ceiling is not None
            and self.memory_mib[position] <= ceiling.memory_mib
            and self.cores[position] <= ceiling.cores
            and self.slots[position] <= ceiling.slots
            and not self.opaque[position]
        ]

    def charge(self, position: int, *, memory_mib: int, cores: int) -> None:
        """Count one grant as used."""
        self.slots[position] += 1
        self.memory_mib[position] += memory_mib
        self.cores[position] += cores

    def check_slots(self, position: int, *, is_mutex: bool) -> int:
        """Return the check of slots that refuses this device, or 0."""
        slots, used = self.devices[position].slots, self.slots[position]
        if slots <= used:
            return checks.SLOTS_TAKEN if slots > 0 else checks.WITHOUT_SLOTS
        return checks.MUTEX_TAKEN if is_mutex and used > 0 else 0

    def check_memory(self, position: int, memory_mib: int) -> int:
        """Return the check of memory that refuses this device, or 0."""
        total = self.devices[position].memory_mib
        if total - self.memory_mib[position] >= memory_mib:
            return 0
        return checks.MEMORY_TOO_SMALL if total < memory_mib else checks.MEMORY_TAKEN

    def check_cores(self, position: int, cores: int, *, total: int) -> int:
        """Return the check of cores that refuses this device, or 0; it counts as having `total`."""
        used = self.cores[position]
        if total - used < cores:
            return checks.CORES_TOO_FEW if total < cores else checks.CORES_TAKEN
        if total == PERCENT and cores == PERCENT and self.slots[position] > 0:
            return checks.EXCLUSIVE_TAKEN
        return checks.COMPUTE_TAKEN if total != 0 and used == total and cores == 0 else 0

    def _loads(self, positions: Sequence[int], devices: Sequence[Device]) -> list[Load]:
        slots, cores, memory_mib = self.slots, self.cores, self.memory_mib
        return [
            Load(slots[at], each.slots, cores[at], each.cores, memory_mib[at], each.memory_mib)
            for at, each in zip(positions, devices, strict=True)
        ]


def _with(load: Load, added: Added | None) -> Load:
    if added is None:
        return load
    return replace(
        load,
        slots_used=load.slots_used + added.slots,
        cores_used=load.cores_used + added.cores,
        memory_used_mib=load.memory_used_mib + added.memory_mib,
    )


@lru_cache(maxsize=INVENTORIES_MAX)
def charged_positions(inventory: Inventory) -> tuple[int, ...]:
    """Return per position which one a grant is charged to: the first with the same id.

    Where a node registers one id twice, use is found by id.
    """
    first: dict[str, int] = {}
    for position, device in enumerate(inventory.devices):
        first.setdefault(device.id, position)
    return tuple(first[device.id] for device in inventory.devices)
