"""What a pod takes of cards, seen as one amount: for whoever compares pods and cards in general."""

from springtide.engine.placement.family import Portion
from springtide.engine.placement.filters import type_matches
from springtide.engine.placement.trial import PERCENT
from springtide.model.device import Device
from springtide.vendors.nvidia.ask import NvidiaAsk
from springtide.vendors.nvidia.cards import lasting_code, memory_asked
from springtide.vendors.nvidia.config import FAMILY_NAME


def portion_of(ask: NvidiaAsk, device: Device) -> Portion | None:
    """Return what the ask takes of each card like this one, None if it takes none like it."""
    if lasting_code(ask, device) or not type_matches(FAMILY_NAME, device.type):
        return None
    init = [each for each in ask.requests[: ask.init_count] if each is not None]
    app = [each for each in ask.requests[ask.init_count :] if each is not None]
    together = app or init[:1]
    return Portion(
        count=sum(each.count for each in together),
        memory_mib=max(memory_asked(each, device) for each in together),
        cores=max(min(each.cores, PERCENT) for each in together),
    )
