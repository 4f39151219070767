"""The numbers behind a refusal, for people: the parts that all families tell alike."""

from collections.abc import Callable, Iterable, Mapping

from springtide.engine.placement.reasons import parse
from springtide.model.device import Device
from springtide.model.refusal import Refusal

Devices = tuple[Device, ...]
Describe = Callable[[Devices], str]


def described(refusal: Refusal, devices: Devices, by_reason: Mapping[str, Describe]) -> str:
    """Return a sentence part for every reason that is named, empty where there is none to tell."""
    if refusal.detail:
        return refusal.detail
    named = set(parse(refusal.text)) | {reason for reason in refusal.reasons if " " not in reason}
    parts = (describe(devices) for reason, describe in by_reason.items() if reason in named)
    return "; ".join(dict.fromkeys(part for part in parts if part))


def memory(asked_mib: int, devices: Devices) -> str:
    """Return what a number of MiB meets."""
    sizes = sizes_of(devices)
    if asked_mib > max(device.memory_mib for device in devices):
        return f"{asked_mib} MiB asked, {sizes} a card"
    return f"{asked_mib} MiB asked, less is free of {sizes} a card"


def sizes_of(devices: Devices) -> str:
    """Return how much memory a card has."""
    return _spans((device.memory_mib for device in devices), "MiB")


def cores(asked: int, most: int) -> str:
    """Return what a number of cores meets, of which a card has at most so many."""
    if asked > most:
        return f"{asked} cores asked, {most} a card"
    return f"{asked} cores asked, fewer are free of {most} a card"


def count(asked: int, devices: Devices) -> str:
    """Return what a number of cards meets."""
    cards = "card" if asked == 1 else "cards"
    return f"{asked} {cards} asked, {len(devices)} on the node"


def ids(use: Iterable[str] | None, avoid: Iterable[str] | None, devices: Devices) -> str:
    """Return which cards are asked or unwanted, and which there are."""
    asked = [f"card {', '.join(use)} asked"] if use else []
    asked += [f"card {', '.join(avoid)} unwanted"] if avoid else []
    present = ", ".join(device.id for device in devices)
    return f"{', '.join(asked)}; the node has {present}"


def types_of(devices: Devices) -> str:
    """Return the types that the node has."""
    return ", ".join(sorted({device.type or "unnamed" for device in devices}))


def slots(devices: Devices) -> str:
    """Return how many containers may share a card."""
    return f"{_spans((device.slots for device in devices), 'containers')} may share a card"


def unhealthy(devices: Devices) -> str:
    """Return which cards are unhealthy."""
    return listed("unhealthy", (device.id for device in devices if not device.is_healthy))


def listed(what: str, names: Iterable[str]) -> str:
    """Return these names after a word, empty where there are none."""
    text = ", ".join(names)
    return f"{what}: {text}" if text else ""


def _spans(numbers: Iterable[int], unit: str) -> str:
    values = sorted(set(numbers))
    if len(values) == 1:
        return f"{values[0]} {unit}"
    return f"{values[0]} to {values[-1]} {unit}"
