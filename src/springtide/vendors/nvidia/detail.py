"""The numbers behind a refusal, for people: what was asked, and what the node's cards are."""

from collections.abc import Mapping
from functools import partial

from springtide.engine.placement import detail
from springtide.engine.placement.detail import Describe, Devices, described
from springtide.engine.placement.reasons import Reason
from springtide.engine.placement.trial import PERCENT
from springtide.model.device import Inventory
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.cards import memory_asked


def detail_of(ask: NvidiaAsk, inventory: Inventory, refusal: Refusal) -> str:
    """Return a sentence part with the numbers, empty where there are none to tell."""
    return described(refusal, inventory.devices, _descriptions(ask))


def _descriptions(ask: NvidiaAsk) -> Mapping[str, Describe]:
    count = partial(detail.count, max(request.count for request in _requests(ask)))
    return {
        Reason.NODE_INSUFFICIENT_DEVICE: count,
        Reason.ALLOCATED_CARDS_INSUFFICIENT_REQUEST: count,
        Reason.NUMA_NOT_FIT: count,
        Reason.CARD_INSUFFICIENT_MEMORY: partial(_memory, ask),
        Reason.CARD_INSUFFICIENT_CORE: partial(_cores, ask),
        Reason.RESOURCE_QUOTA_NOT_FIT: partial(_in_all, ask),
        Reason.CARD_TYPE_MISMATCH: partial(_types, ask),
        Reason.CARD_UUID_MISMATCH: partial(detail.ids, ask.use_ids, ask.avoid_ids),
        Reason.CARD_TIME_SLICING_EXHAUSTED: detail.slots,
        Reason.CARD_NOT_HEALTH: detail.unhealthy,
        Reason.CARD_CORDONED: _cordoned,
    }


def _memory(ask: NvidiaAsk, devices: Devices) -> str:
    largest = max(devices, key=lambda device: device.memory_mib)
    request = max(_requests(ask), key=lambda request: memory_asked(request, largest))
    asked = memory_asked(request, largest)
    if request.memory_mib or asked > largest.memory_mib:
        return detail.memory(asked, devices)
    sizes = detail.sizes_of(devices)
    return f"{request.memory_pct} % of a card's memory asked, less is free of {sizes} a card"


def _cores(ask: NvidiaAsk, devices: Devices) -> str:
    asked = max(request.cores for request in _requests(ask))
    return detail.cores(asked, max(device.cores for device in devices))


def _in_all(ask: NvidiaAsk, devices: Devices) -> str:
    """Return what all requests together take; of cards of several sizes, on the largest."""
    largest = max(devices, key=lambda device: device.memory_mib)
    memory = sum(each.count * memory_asked(each, largest) for each in _requests(ask))
    cores = sum(each.count * min(each.cores, PERCENT) for each in _requests(ask))
    return f"{memory} MiB{f' and {cores} cores' if cores else ''} asked in all"


def _types(ask: NvidiaAsk, devices: Devices) -> str:
    present = detail.types_of(devices)
    modes = ", ".join(sorted({device.mode for device in devices if device.mode}))
    asked = [f"type {', '.join(ask.use_types)} asked"] if ask.use_types else []
    asked += [f"type {', '.join(ask.avoid_types)} unwanted"] if ask.avoid_types else []
    asked += [f"mode {ask.vgpu_mode} asked, {modes or 'none'} registered"] if ask.vgpu_mode else []
    return f"{', '.join(asked)}; the node has {present}" if asked else f"the node has {present}"


def _cordoned(devices: Devices) -> str:
    return detail.listed("cordoned", (device.id for device in devices if device.is_cordoned))


def _requests(ask: NvidiaAsk) -> list[Request]:
    return [request for request in ask.requests if request is not None]
