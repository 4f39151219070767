"""The cards of one node during a placement: what never changes, worked out once, and a trial of use.

`eligibility` holds what an ask and an inventory decide between them whatever runs on the node;
`CardTrial` holds the use, which fitting a container changes.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

import msgspec

from springtide.engine.placement import checks
from springtide.engine.placement.filters import type_matches, type_ok, uuid_ok
from springtide.engine.placement.trial import Added, Trial
from springtide.model.device import Device, DeviceView, Inventory, MigPlacement
from springtide.vendors.nvidia import mig
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.config import FAMILY_NAME
from springtide.vendors.nvidia.quota import Bound

_ELIGIBILITIES_MAX: Final = 16384


class Eligibility(msgspec.Struct, frozen=True, kw_only=True):
    """One ask against one inventory: candidates, and per position the lasting refusal or 0."""

    in_order: tuple[int, ...]
    codes: tuple[int, ...]
    has_mig: bool
    has_bare: bool

    @property
    def candidates(self) -> frozenset[int]:
        """Return the positions of the candidates."""
        return frozenset(self.in_order)


@lru_cache(maxsize=_ELIGIBILITIES_MAX)
def eligibility(ask: NvidiaAsk, inventory: Inventory) -> Eligibility:
    """Return which cards may serve the ask as far as nothing but registration counts."""
    devices = inventory.devices
    candidates = tuple(
        position
        for position, device in enumerate(devices)
        if type_matches(FAMILY_NAME, device.type)
    )
    return Eligibility(
        in_order=candidates,
        codes=tuple(lasting_code(ask, device) for device in devices),
        has_mig=any(devices[position].mode == mig.MODE for position in candidates),
        has_bare=any(device.type == FAMILY_NAME for device in devices),
    )


def lasting_code(ask: NvidiaAsk, device: Device) -> int:
    """Return why this card never serves the ask as it is registered, or 0."""
    if not device.is_healthy:
        return checks.UNHEALTHY
    if device.is_cordoned:
        return checks.CORDONED
    if not type_ok(device.type, use=ask.use_types, avoid=ask.avoid_types):
        return checks.OTHER_TYPE
    if not mode_ok(ask, device.mode):
        return checks.OTHER_TYPE
    if not uuid_ok(device.id, use=ask.use_ids, avoid=ask.avoid_ids):
        return checks.OTHER_ID
    return 0


def mode_ok(ask: NvidiaAsk, mode: str) -> bool:
    """Return whether the ask's mode annotation, if any, contains the card's mode."""
    return ask.vgpu_mode is None or mode in ask.vgpu_mode


class CardTrial(Trial):
    """A trial of cards that may be cut into MIG instances, with what a quota allows the pod."""

    __slots__ = ("bound", "eligible", "kind", "occupied")

    def __init__(
        self,
        view: DeviceView,
        ask: NvidiaAsk,
        *,
        kind: Inventory,
        bound: Bound | None = None,
        ranks: tuple[int, ...] = (),
    ) -> None:
        super().__init__(view, ranks)
        self.bound = bound
        self.kind = kind
        self.eligible = eligibility(ask, kind)
        self.occupied = [use.occupied for use in view.uses]

    def tries(
        self, ask: NvidiaAsk, request: Request, *, among: Sequence[int] | None = None
    ) -> list[int]:
        """Return the candidates, or those among them, in the order in which they are tried."""
        return self.order(
            ask.device_policy,
            partial(_added, request) if self.eligible.has_bare else None,
            weights=ask.weights,
            numa_bind=ask.numa_bind,
            among=self.eligible.in_order if among is None else among,
        )

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


def memory_asked(request: Request, device: Device) -> int:
    """Return the MiB that a request means on this card; memory wins over a percentage."""
    if request.memory_mib:
        return request.memory_mib
    return device.memory_mib * (request.memory_pct or 0) // 100


def _added(request: Request, device: Device) -> Added | None:
    # HAMi adds the request only where the registered type is the bare word, which no plugin
    # writes; real cards are compared by what is used of them.
    if device.type != FAMILY_NAME:
        return None
    return Added(1, request.cores, _scored_memory(request, device))


def _scored_memory(request: Request, device: Device) -> int:
    # In scores, unlike in fitting, a percentage wins over memory.
    if request.memory_pct is None:
        return request.memory_mib
    return device.memory_mib * request.memory_pct // 100
