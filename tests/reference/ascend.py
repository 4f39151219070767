"""A naive reference of HAMi's Ascend fit, written straight from its description, chip by chip.

Slow and plain on purpose: one list of dictionaries a node, walked from its last element. It knows
nothing of columns, codes or caches.
"""

from collections import Counter
from typing import Any

import numpy as np

from springtide.model.device import DeviceView
from springtide.vendors.ascend import AscendAsk
from springtide.vendors.ascend.ask import Request, Wanted

Card = dict[str, Any]
Picks = list[tuple[str, int, int]]
F = np.float32


def verdict(ask: AscendAsk, view: DeviceView) -> str | list[Picks]:
    """Return each container's picks (chip id, MiB, cores), or the reason why the node is refused."""
    found: list[Picks] = []
    trial = cards_of(view)
    for index, wanted in enumerate(ask.requests):
        if index <= ask.init_count:
            trial = cards_of(view)  # Init containers do not see each other.
        picks: Picks = []
        ordered = sorted_cards(ask, wanted or (), trial)
        for request in wanted or ():
            answer = fit(ask, request, ordered)
            if isinstance(answer, str):
                return answer
            picks += answer
        found.append(picks)
    return found


def cards_of(view: DeviceView) -> list[Card]:
    """Return the node's chips with what is in use of them."""
    return [
        {"device": device, "used": use.slots, "memory": use.memory_mib, "cores": use.cores}
        for device, use in zip(view.inventory.devices, view.uses, strict=True)
    ]


def fit(ask: AscendAsk, request: Request, ordered: list[Card]) -> str | Picks:
    """Serve one request and charge it, or say why it does not fit."""
    word, count = request.chip.word, request.count
    candidates = [card for card in ordered if word.lower() in card["device"].type.lower()]
    if count > len(candidates):
        return "NodeInsufficientDevice"
    if ask.is_soft and any(card["device"].mode != "hami-core" for card in candidates):
        return f"1/{len(candidates)} ModeNotFit"
    in_pairs = word == "Ascend910C" and count > 1
    in_networks = word.startswith("Ascend910") and all(
        card["device"].network is not None for card in candidates
    )
    why: Counter[str] = Counter()
    picked: list[Card] = []
    for card in reversed(candidates):
        reason = refusal(ask, request, card)
        if reason:
            why[reason] += 1
            continue
        picked.append(card)
        if len(picked) == count and not in_pairs and not in_networks:
            break
    total = len(candidates)
    if in_pairs:
        picked, total = pairs(picked, count), count
    elif in_networks and len(picked) > count:
        picked = networks(picked, count)
    if len(picked) != count:
        if picked or in_pairs:
            why["AllocatedCardsInsufficientRequest"] = len(picked)
        return ", ".join(sorted(f"{number}/{total} {reason}" for reason, number in why.items()))
    return [charge(request, card) for card in picked]


def pairs(picked: list[Card], count: int) -> list[Card]:
    """Return whole modules until there are enough chips."""
    taken: list[Card] = []
    for module in sorted({card["device"].index // 2 for card in picked}):
        both = [card for card in picked if card["device"].index // 2 == module]
        if len(both) == 2 and len(taken) < count:
            taken += both
    return taken


def networks(picked: list[Card], count: int) -> list[Card]:
    """Return the chips of the largest networks."""
    if count == 1:
        return picked[:1]
    sizes = Counter(card["device"].network for card in picked)
    names = sorted(sizes, key=lambda name: (-sizes[name], name))
    ordered = [card for name in names for card in picked if card["device"].network == name]
    return ordered[:count]


def refusal(  # noqa: PLR0911 - one line a rule, in their order
    ask: AscendAsk, request: Request, card: Card
) -> str:
    """Return why the chip does not serve this request."""
    device = card["device"]
    cores, total = min(request.cores, 100), 100 if ask.is_soft else device.cores
    if not device.is_healthy:
        return "CardNotHealth"
    if request.use_ids and device.id not in request.use_ids:
        return "CardUuidMismatch"
    if request.avoid_ids and device.id in request.avoid_ids:
        return "CardUuidMismatch"
    if device.slots <= card["used"]:
        return "CardTimeSlicingExhausted"
    if "mutex" in [part.strip() for part in ask.device_policy.split(",")] and card["used"] > 0:
        return "ExclusiveDeviceAllocateConflict"
    if device.memory_mib - card["memory"] < (request.memory_mib or device.memory_mib):
        return "CardInsufficientMemory"
    if total - card["cores"] < cores:
        return "CardInsufficientCore"
    if total == 100 and cores == 100 and card["used"] > 0:
        return "ExclusiveDeviceAllocateConflict"
    if total != 0 and card["cores"] == total and cores == 0:
        return "CardComputeUnitsExhausted"
    return ""


def charge(request: Request, card: Card) -> tuple[str, int, int]:
    """Charge one pick to the trial usage and return it as it is recorded."""
    memory = request.memory_mib or card["device"].memory_mib
    cores = min(request.cores, 100)
    card["used"] += 1
    card["memory"] += memory
    card["cores"] += cores
    return card["device"].id, memory, cores


def sorted_cards(ask: AscendAsk, wanted: Wanted, trial: list[Card]) -> list[Card]:
    """Return the chips in policy order; the last one is tried first."""
    load = {id(card): score(ask, wanted, card) for card in trial}
    numa = {id(card): card["device"].numa for card in trial}
    match ask.device_policy:
        case "mutex":
            return sorted(trial, key=lambda card: (-card["used"], numa[id(card)]))
        case "binpack" if ask.numa_bind:
            return sorted(trial, key=lambda card: (-numa[id(card)], load[id(card)]))
        case "binpack":
            return sorted(trial, key=lambda card: (load[id(card)], numa[id(card)]))
        case "binpack,mutex":
            first = [numa[id(card)] if ask.numa_bind else 0 for card in trial]
            rank = {id(card): place for card, place in zip(trial, first, strict=True)}
            return sorted(trial, key=lambda c: (rank[id(c)], load[id(c)], c["device"].index))
        case _ if ask.numa_bind:
            return sorted(trial, key=lambda card: (numa[id(card)], -load[id(card)]))
        case _:
            return sorted(trial, key=lambda card: (-load[id(card)], numa[id(card)]))


def score(ask: AscendAsk, wanted: Wanted, card: Card) -> np.float32:
    """Return the chip's load in single precision, operation by operation."""
    device = card["device"]
    if not device.slots or not device.cores or not device.memory_mib:
        return F(0)
    slots, cores, memory = card["used"], card["cores"], card["memory"]
    for request in wanted:
        if request.chip.word == device.type:
            slots += 1
            cores += request.cores
            memory += request.memory_mib or device.memory_mib
    weights = ask.weights
    parts = (
        F(weights.slot) * (F(slots) / F(device.slots)),
        F(weights.core) * (F(cores) / F(device.cores)),
        F(weights.memory) * (F(memory) / F(device.memory_mib)),
    )
    return F(10) * ((parts[0] + parts[1]) + parts[2])
