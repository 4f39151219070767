"""What a pod takes of chips, seen as one amount: for whoever compares pods and chips in general.

Ids play no part, so that chips which are equal but for their names are equal here. Cores of the soft split
are per cent, whatever the chip has, and are left out.
"""

from springtide.engine.placement.family import Portion
from springtide.engine.placement.filters import type_matches
from springtide.model.device import Device
from springtide.vendors.ascend.ask import AscendAsk, Wanted, cores_asked, memory_asked


def portion_of(ask: AscendAsk, device: Device) -> Portion | None:
    """Return what the ask takes of each chip like this one, None if it takes none like it."""
    init = _of_kind(ask.requests[: ask.init_count], device)
    together = _of_kind(ask.requests[ask.init_count :], device) or init[:1]
    if not together or not device.is_healthy:
        return None
    return Portion(
        count=sum(each.count for each in together),
        memory_mib=max(memory_asked(each, device) for each in together),
        cores=0 if ask.is_soft else max(cores_asked(each) for each in together),
    )


def _of_kind(containers: tuple[Wanted | None, ...], device: Device) -> Wanted:
    return tuple(
        each
        for wanted in containers
        for each in wanted or ()
        if type_matches(each.chip.word, device.type)
    )
