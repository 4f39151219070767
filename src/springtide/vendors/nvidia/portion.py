"""What a pod takes of cards, seen as one amount: for whoever compares pods and cards in general.

Ids play no part, so that cards which are equal but for their names are equal here.
"""

from springtide.engine.placement.family import Portion
from springtide.engine.placement.filters import type_matches, type_ok
from springtide.engine.placement.trial import PERCENT
from springtide.model.device import Device
from springtide.vendors.nvidia.ask import NvidiaAsk
from springtide.vendors.nvidia.cards import memory_asked, mode_ok
from springtide.vendors.nvidia.config import FAMILY_NAME


def portion_of(ask: NvidiaAsk, device: Device) -> Portion | None:
    """Return what the ask takes of each card like this one, None if it takes none like it."""
    if not _suits(ask, device):
        return None
    init = [each for each in ask.requests[: ask.init_count] if each is not None]
    app = [each for each in ask.requests[ask.init_count :] if each is not None]
    together = app or init[:1]
    return Portion(
        count=sum(each.count for each in together),
        memory_mib=max(memory_asked(each, device) for each in together),
        cores=max(min(each.cores, PERCENT) for each in together),
    )


def _suits(ask: NvidiaAsk, device: Device) -> bool:
    if not device.is_healthy or device.is_cordoned:
        return False
    return (
        type_matches(FAMILY_NAME, device.type)
        and type_ok(device.type, use=ask.use_types, avoid=ask.avoid_types)
        and mode_ok(ask, device.mode)
    )
