"""The numbers behind a refusal, for people: what was asked, and what the node's cards are."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from springtide.engine.placement.reasons import Reason, parse
from springtide.model.device import Device, Inventory
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.cards import memory_asked

Describe = Callable[[NvidiaAsk, tuple[Device, ...]], str]


def detail_of(ask: NvidiaAsk, inventory: Inventory, refusal: Refusal) -> str:
    """Return a sentence part with the numbers, empty where there are none to tell."""
    if refusal.detail:
        return refusal.detail
    named = set(parse(refusal.text)) | {reason for reason in refusal.reasons if " " not in reason}
    parts = (
        describe(ask, inventory.devices)
        for reason, describe in _DESCRIPTIONS.items()
        if reason in named
    )
    return "; ".join(dict.fromkeys(part for part in parts if part))


def _memory(ask: NvidiaAsk, devices: tuple[Device, ...]) -> str:
    largest = max(devices, key=lambda device: device.memory_mib)
    request = max(_requests(ask), key=lambda request: memory_asked(request, largest))
    asked = memory_asked(request, largest)
    sizes = _spans((device.memory_mib for device in devices), "MiB")
    if asked > largest.memory_mib:
        return f"{asked} MiB asked, {sizes} a card"
    if request.memory_mib:
        return f"{asked} MiB asked, less is free of {sizes} a card"
    return f"{request.memory_pct} % of a card's memory asked, less is free of {sizes} a card"


def _cores(ask: NvidiaAsk, devices: tuple[Device, ...]) -> str:
    asked = max(request.cores for request in _requests(ask))
    most = max(device.cores for device in devices)
    if asked > most:
        return f"{asked} cores asked, {most} a card"
    return f"{asked} cores asked, fewer are free of {most} a card"


def _count(ask: NvidiaAsk, devices: tuple[Device, ...]) -> str:
    asked = max(request.count for request in _requests(ask))
    cards = "card" if asked == 1 else "cards"
    return f"{asked} {cards} asked, {len(devices)} on the node"


def _types(ask: NvidiaAsk, devices: tuple[Device, ...]) -> str:
    present = ", ".join(sorted({device.type or "unnamed" for device in devices}))
    modes = ", ".join(sorted({device.mode for device in devices if device.mode}))
    asked = [f"type {', '.join(ask.use_types)} asked"] if ask.use_types else []
    asked += [f"type {', '.join(ask.avoid_types)} unwanted"] if ask.avoid_types else []
    asked += [f"mode {ask.vgpu_mode} asked, {modes or 'none'} registered"] if ask.vgpu_mode else []
    return f"{', '.join(asked)}; the node has {present}" if asked else f"the node has {present}"


def _ids(ask: NvidiaAsk, devices: tuple[Device, ...]) -> str:
    asked = [f"card {', '.join(ask.use_ids)} asked"] if ask.use_ids else []
    asked += [f"card {', '.join(ask.avoid_ids)} unwanted"] if ask.avoid_ids else []
    present = ", ".join(device.id for device in devices)
    return f"{', '.join(asked)}; the node has {present}"


def _slots(_ask: NvidiaAsk, devices: tuple[Device, ...]) -> str:
    return f"{_spans((device.slots for device in devices), 'containers')} may share a card"


def _unhealthy(_ask: NvidiaAsk, devices: tuple[Device, ...]) -> str:
    return _listed("unhealthy", (device.id for device in devices if not device.is_healthy))


def _cordoned(_ask: NvidiaAsk, devices: tuple[Device, ...]) -> str:
    return _listed("cordoned", (device.id for device in devices if device.is_cordoned))


_DESCRIPTIONS: Final[Mapping[str, Describe]] = {
    Reason.NODE_INSUFFICIENT_DEVICE: _count,
    Reason.ALLOCATED_CARDS_INSUFFICIENT_REQUEST: _count,
    Reason.NUMA_NOT_FIT: _count,
    Reason.CARD_INSUFFICIENT_MEMORY: _memory,
    Reason.CARD_INSUFFICIENT_CORE: _cores,
    Reason.CARD_TYPE_MISMATCH: _types,
    Reason.CARD_UUID_MISMATCH: _ids,
    Reason.CARD_TIME_SLICING_EXHAUSTED: _slots,
    Reason.CARD_NOT_HEALTH: _unhealthy,
    Reason.CARD_CORDONED: _cordoned,
}


def _requests(ask: NvidiaAsk) -> list[Request]:
    return [request for request in ask.requests if request is not None]


def _listed(what: str, ids: Iterable[str]) -> str:
    names = ", ".join(ids)
    return f"{what}: {names}" if names else ""


def _spans(numbers: Iterable[int], unit: str) -> str:
    values = sorted(set(numbers))
    if len(values) == 1:
        return f"{values[0]} {unit}"
    return f"{values[0]} to {values[-1]} {unit}"
