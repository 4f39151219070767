"""The numbers behind a refusal, for people: what was asked, and what the node's chips are."""

from collections.abc import Mapping
from functools import partial

from springtide.engine.placement import detail
from springtide.engine.placement.detail import Describe, Devices, described
from springtide.engine.placement.reasons import Reason
from springtide.engine.placement.trial import PERCENT
from springtide.model.device import Inventory
from springtide.model.refusal import Refusal
from springtide.vendors.ascend.ask import AscendAsk, memory_asked
from springtide.vendors.ascend.codec import SOFT_SPLIT


def detail_of(ask: AscendAsk, inventory: Inventory, refusal: Refusal) -> str:
    """Return a sentence part with the numbers, empty where there are none to tell."""
    return described(refusal, inventory.devices, _descriptions(ask))


def _descriptions(ask: AscendAsk) -> Mapping[str, Describe]:
    requests = ask.all_requests()
    use = [name for request in requests for name in request.use_ids or ()]
    avoid = [name for request in requests for name in request.avoid_ids or ()]
    return {
        Reason.NODE_INSUFFICIENT_DEVICE: partial(_count, ask),
        Reason.ALLOCATED_CARDS_INSUFFICIENT_REQUEST: partial(_together, ask),
        Reason.CARD_INSUFFICIENT_MEMORY: partial(_memory, ask),
        Reason.CARD_INSUFFICIENT_CORE: partial(_cores, ask),
        Reason.CARD_UUID_MISMATCH: partial(detail.ids, use, avoid),
        Reason.CARD_TIME_SLICING_EXHAUSTED: detail.slots,
        Reason.CARD_NOT_HEALTH: detail.unhealthy,
        Reason.MODE_NOT_FIT: _mode,
    }


def _count(ask: AscendAsk, devices: Devices) -> str:
    largest = max(ask.all_requests(), key=lambda request: request.count)
    text = detail.count(largest.count, devices)
    return f"{text}: {detail.types_of(devices)}, {largest.chip.word} asked"


def _together(ask: AscendAsk, devices: Devices) -> str:
    largest = max(ask.all_requests(), key=lambda request: request.count)
    text = detail.count(largest.count, devices)
    return f"{text}, in whole modules of two" if largest.needs_pairs else text


def _memory(ask: AscendAsk, devices: Devices) -> str:
    largest = max(devices, key=lambda device: device.memory_mib)
    asked = max(memory_asked(request, largest) for request in ask.all_requests())
    return detail.memory(asked, devices)


def _cores(ask: AscendAsk, devices: Devices) -> str:
    asked = max(request.cores for request in ask.all_requests())
    return detail.cores(asked, PERCENT if ask.is_soft else max(each.cores for each in devices))


def _mode(_devices: Devices) -> str:
    return f"soft split asked, and the node does not support it ({SOFT_SPLIT})"
