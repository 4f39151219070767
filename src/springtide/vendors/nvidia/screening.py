"""How much of each card may be in use for it to serve a request: the checks of `fit` as ceilings."""

from functools import lru_cache
from typing import Final

from springtide.engine.placement.order import MUTEX, has_token
from springtide.engine.placement.screening import Ceiling, Needed, Screen
from springtide.engine.placement.trial import PERCENT
from springtide.model.device import Device, Inventory
from springtide.vendors.nvidia import mig
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.cards import eligibility, memory_asked

_CEILINGS_MAX: Final = 65_536


def screen(ask: NvidiaAsk) -> Screen | None:
    """Return what judges nodes of any kind; None where cards of one kind may differ.

    Where a quota bounds the ask, one card's use is not all that counts.
    """
    if ask.reads_ids or ask.allowance is not None:
        return None
    judged = judged_alone(ask)

    def needed_of(inventory: Inventory) -> tuple[Needed, ...]:
        return tuple(
            Needed(count=request.count, ceilings=ceilings(ask, request, inventory))
            for request in judged
        )

    return Screen(needed_of)


def judged_alone(ask: NvidiaAsk) -> tuple[Request, ...]:
    """Return the distinct requests that meet the node as it is: of init and the first app container."""
    init = [request for request in ask.requests[: ask.init_count] if request is not None]
    app = [request for request in ask.requests[ask.init_count :] if request is not None]
    return tuple(dict.fromkeys([*init, *app[:1]]))


@lru_cache(maxsize=_CEILINGS_MAX)
def ceilings(ask: NvidiaAsk, request: Request, inventory: Inventory) -> tuple[Ceiling | None, ...]:
    """Return up to what use each card serves one request of an ask, None where never."""
    eligible = eligibility(ask, inventory)
    is_short = request.count > len(eligible.in_order)
    if is_short and not (eligible.has_mig and ask.accepts_mig):
        return (None,) * len(inventory.devices)
    is_mutex = has_token(ask.device_policy, MUTEX)
    found: list[Ceiling | None] = [None] * len(inventory.devices)
    for position in eligible.in_order:
        if not eligible.codes[position]:
            device = inventory.devices[position]
            found[position] = _ceiling(request, device, is_mutex=is_mutex)
    return tuple(found)


def _ceiling(request: Request, device: Device, *, is_mutex: bool) -> Ceiling | None:
    cores = min(request.cores, PERCENT)
    is_alone = is_mutex or (cores == PERCENT and device.cores == PERCENT)
    # A request without cores takes any card whose cores are not all in use.
    cores_below = device.cores - (cores or min(device.cores, 1))
    ceiling = Ceiling(
        memory_mib=device.memory_mib - memory_asked(request, device),
        cores=cores_below,
        slots=0 if is_alone and device.slots > 0 else device.slots - 1,
        weight=request.count if device.mode == mig.MODE else 1,
    )
    return None if min(ceiling.memory_mib, ceiling.cores, ceiling.slots) < 0 else ceiling
