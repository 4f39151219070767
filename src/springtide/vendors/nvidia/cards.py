"""The cards of one node during a placement: what never changes, worked out once, and a trial of use.

`eligibility` holds what an ask and an inventory decide between them whatever runs on the node;
`Trial` holds the use, which fitting a container changes.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from springtide.engine.placement.filters import type_matches, type_ok, uuid_ok
from springtide.engine.placement.order import Standing, arranged, sort_keys
from springtide.engine.placement.score import Load, load_score
from springtide.model.device import Device, DeviceView, Inventory, MigPlacement
from springtide.vendors.nvidia import codes, mig
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.config import FAMILY_NAME

_ELIGIBILITIES_MAX: Final = 16384


class Eligibility(msgspec.Struct, frozen=True, kw_only=True):
    """One ask against one inventory: candidates, and per position the lasting refusal or 0.

    `charged` says per position which position a grant is charged to: the first with the same id.
    """

    candidates: frozenset[int]
    codes: tuple[int, ...]
    charged: tuple[int, ...]
    has_mig: bool


@lru_cache(maxsize=_ELIGIBILITIES_MAX)
def eligibility(ask: NvidiaAsk, inventory: Inventory) -> Eligibility:
    """Return which cards may serve the ask as far as nothing but registration counts."""
    devices = inventory.devices
    first: dict[str, int] = {}
    for position, device in enumerate(devices):
        first.setdefault(device.id, position)
    candidates = frozenset(
        position
        for position, device in enumerate(devices)
        if type_matches(FAMILY_NAME, device.type)
    )
    return Eligibility(
        candidates=candidates,
        codes=tuple(lasting_code(ask, device) for device in devices),
        charged=tuple(first[device.id] for device in devices),
        has_mig=any(devices[position].mode == mig.MODE for position in candidates),
    )


def lasting_code(ask: NvidiaAsk, device: Device) -> int:
    """Return why this card never serves the ask as it is registered, or 0."""
    if not device.is_healthy:
        return codes.UNHEALTHY
    if device.is_cordoned:
        return codes.CORDONED
    if not type_ok(device.type, use=ask.use_types, avoid=ask.avoid_types):
        return codes.OTHER_TYPE
    if not mode_ok(ask, device.mode):
        return codes.OTHER_TYPE
    if not uuid_ok(device.id, use=ask.use_ids, avoid=ask.avoid_ids):
        return codes.OTHER_ID
    return 0


def mode_ok(ask: NvidiaAsk, mode: str) -> bool:
    """Return whether the ask's mode annotation, if any, contains the card's mode."""
    return ask.vgpu_mode is None or mode in ask.vgpu_mode


class Trial:
    """The use of one node's cards while the containers of a pod are fitted."""

    __slots__ = (
        "cores",
        "devices",
        "eligible",
        "inventory",
        "memory_mib",
        "occupied",
        "opaque",
        "slots",
    )

    def __init__(self, view: DeviceView, eligible: Eligibility) -> None:
        uses = view.uses
        self.inventory = view.inventory
        self.devices = view.inventory.devices
        self.eligible = eligible
        self.slots = [use.slots for use in uses]
        self.memory_mib = [use.memory_mib for use in uses]
        self.cores = [use.cores for use in uses]
        self.opaque = [use.opaque for use in uses]
        self.occupied = [use.occupied for use in uses]

    def tries(self, ask: NvidiaAsk, request: Request) -> list[int]:
        """Return the candidates in the order in which they are tried."""
        keys = sort_keys(ask.device_policy, numa_bind=ask.numa_bind)
        standings = [self._standing(position, ask, request) for position in range(len(self.slots))]
        order = arranged(standings, keys)
        order.reverse()
        candidates = self.eligible.candidates
        return [position for position in order if position in candidates]

    def charge(self, position: int, *, memory_mib: int, cores: int) -> None:
        """Count one grant as used."""
        self.slots[position] += 1
        self.memory_mib[position] += memory_mib
        self.cores[position] += cores

    def occupy(self, position: int, placement: MigPlacement) -> None:
        """Count one MIG placement as taken."""
        self.occupied[position] = (*self.occupied[position], placement)

    def instance(
        self, position: int, queued: Sequence[int], *, memory_mib: int
    ) -> mig.Instance | None:
        """Return the MIG instance that a request would get after those queued, or None."""
        profiles = self.devices[position].mig_profiles
        occupied = list(self.occupied[position])
        for earlier_mib in queued:
            earlier = mig.select(profiles, occupied, memory_mib=earlier_mib)
            assert earlier is not None, "a queued instance was checked when it was picked"
            occupied.append(earlier.placement)
        return mig.select(profiles, occupied, memory_mib=memory_mib)

    def _standing(self, position: int, ask: NvidiaAsk, request: Request) -> Standing:
        device = self.devices[position]
        slots, cores, memory_mib = (
            self.slots[position],
            self.cores[position],
            self.memory_mib[position],
        )
        # HAMi adds the request only where the registered type is the bare word, which no plugin
        # writes; real cards are compared by what is used of them.
        if device.type == FAMILY_NAME:
            slots, cores = slots + 1, cores + request.cores
            memory_mib += _scored_memory(request, device)
        load = Load(slots, device.slots, cores, device.cores, memory_mib, device.memory_mib)
        return Standing(
            score=load_score(load, ask.weights),
            numa=device.numa,
            slots_used=self.slots[position],
            index=device.index,
        )


def memory_asked(request: Request, device: Device) -> int:
    """Return the MiB that a request means on this card; memory wins over a percentage."""
    if request.memory_mib:
        return request.memory_mib
    return device.memory_mib * (request.memory_pct or 0) // 100


def _scored_memory(request: Request, device: Device) -> int:
    # In scores, unlike in fitting, a percentage wins over memory.
    if request.memory_pct is None:
        return request.memory_mib
    return device.memory_mib * request.memory_pct // 100
