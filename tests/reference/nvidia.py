"""A naive reference of HAMi's NVIDIA fit, written straight from its description, device by device.

Slow and plain on purpose: one list of dictionaries a node, walked from its last element. It knows
nothing of columns, codes or caches. The policy `topology-aware` is left to its own tests.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from springtide.model.device import DeviceView, MigPlacement
from springtide.vendors.nvidia import NvidiaAsk
from springtide.vendors.nvidia.ask import Request

Card = dict[str, Any]
Picks = list[tuple[str, int, int]]
F = np.float32


def verdict(ask: NvidiaAsk, view: DeviceView) -> str | list[Picks]:
    """Return each container's picks (card id, MiB, cores), or the reason why the node is refused."""
    found: list[Picks] = []
    trial = cards_of(view)
    for index, request in enumerate(ask.requests):
        if index < ask.init_count:
            trial = cards_of(view)  # Init containers do not see each other.
        elif index == ask.init_count:
            trial = cards_of(view)
        if request is None:
            found.append([])
            continue
        answer = container(ask, request, trial, found)
        if isinstance(answer, str):
            return answer
        found.append(answer)
    return found


def cards_of(view: DeviceView) -> list[Card]:
    """Return the node's cards with what is in use of them."""
    return [
        {
            "device": device,
            "healthy": device.is_healthy and use.opaque == 0,
            "used": use.slots,
            "memory": use.memory_mib,
            "cores": use.cores,
            "occupied": list(use.occupied),
        }
        for device, use in zip(view.inventory.devices, view.uses, strict=True)
    ]


def container(
    ask: NvidiaAsk, request: Request, trial: list[Card], before: list[Picks]
) -> str | Picks:
    """Place one container on the trial usage and charge it, or say why it does not fit."""
    ordered = sorted_cards(ask, request, trial)
    candidates = [card for card in ordered if "nvidia" in card["device"].type.lower()]
    has_mig = any(card["device"].mode == "mig" for card in candidates)
    by_instance = has_mig and (ask.vgpu_mode is None or "mig" in ask.vgpu_mode)
    if request.count > len(candidates) and not by_instance:
        return "NodeInsufficientDevice"
    picked, why = walk(ask, request, candidates, before)
    if picked is None:
        words = (f"{count}/{len(candidates)} {reason}" for reason, count in why.items())
        return ", ".join(sorted(words))
    return [charge(card, memory, cores) for card, memory, cores in picked]


def walk(
    ask: NvidiaAsk, request: Request, candidates: list[Card], before: list[Picks]
) -> tuple[list[tuple[Card, int, int]] | None, Counter[str]]:
    """Walk the candidates from the last one; return the picks, or None and what refused."""
    why: Counter[str] = Counter()
    picked: list[tuple[Card, int, int]] = []
    last_numa = -1
    position = len(candidates) - 1
    while position >= 0:
        card = candidates[position]
        device = card["device"]
        position -= 1
        early = early_refusal(ask, card)
        if early:
            why[early] += 1
            continue
        if ask.numa_bind and device.numa != last_numa:
            if picked:
                why["NumaNotFit"] += len(picked)
            picked, last_numa = [], device.numa
        cores = min(request.cores, 100)
        memory = request.memory_mib or device.memory_mib * (request.memory_pct or 0) // 100
        mine = [(each["device"].id, mib, share) for each, mib, share in picked]
        is_beyond = beyond_quota(ask, [*before, [*mine, (device.id, memory, cores)]])
        late = late_refusal(ask, card, memory, cores, picked, is_beyond=is_beyond)
        if late:
            why[late] += 1
            continue
        picked.append((card, memory, cores))
        if len(picked) == request.count:
            return picked, why
        if device.mode == "mig":
            position += 1  # The same card may hold another instance.
    if picked:
        why["AllocatedCardsInsufficientRequest"] = len(picked)
    return None, why


def early_refusal(ask: NvidiaAsk, card: Card) -> str:
    """Return why the card is none for this pod, before its NUMA node is looked at."""
    device = card["device"]
    if not card["healthy"]:
        return "CardNotHealth"
    if device.is_cordoned:
        return "CardCordoned"
    model = device.type.upper()
    if ask.use_types and not any(item.upper() in model for item in ask.use_types):
        return "CardTypeMismatch"
    if ask.avoid_types and any(item.upper() in model for item in ask.avoid_types):
        return "CardTypeMismatch"
    if ask.vgpu_mode is not None and device.mode not in ask.vgpu_mode:
        return "CardTypeMismatch"
    return ""


def late_refusal(  # noqa: C901, PLR0911, PLR0912 - one line a rule, in their order
    ask: NvidiaAsk,
    card: Card,
    memory: int,
    cores: int,
    picked: list[tuple[Card, int, int]],
    *,
    is_beyond: bool,
) -> str:
    """Return why the card does not take this container."""
    device = card["device"]
    if ask.use_ids and device.id not in ask.use_ids:
        return "CardUuidMismatch"
    if ask.avoid_ids and device.id in ask.avoid_ids:
        return "CardUuidMismatch"
    if device.slots <= card["used"]:
        return "CardTimeSlicingExhausted"
    if "mutex" in [part.strip() for part in ask.device_policy.split(",")] and card["used"] > 0:
        return "ExclusiveDeviceAllocateConflict"
    if is_beyond:
        return "ResourceQuotaNotFit"
    if device.memory_mib - card["memory"] < memory:
        return "CardInsufficientMemory"
    if device.cores - card["cores"] < cores:
        return "CardInsufficientCore"
    if device.cores == 100 and cores == 100 and card["used"] > 0:
        return "ExclusiveDeviceAllocateConflict"
    if device.cores != 0 and card["cores"] == device.cores and cores == 0:
        return "CardComputeUnitsExhausted"
    if device.mode == "mig":
        occupied = list(card["occupied"])
        for other, earlier, _ in picked:
            if other is card:
                occupied.append(instance(card, occupied, earlier)[1])
        if instance(card, occupied, memory) is None:
            return "CardMigTopologyInfeasible"
    return ""


def beyond_quota(ask: NvidiaAsk, containers: list[Picks]) -> bool:
    """Return whether these containers hold more than the namespace has left, init ones first."""
    left = ask.allowance
    if left is None:
        return False
    memory = [[(name, mib) for name, mib, _ in picks] for picks in containers]
    cores = [[(name, share) for name, _, share in picks] for picks in containers]
    for amounts, most in ((memory, left.memory_mib), (cores, left.cores)):
        init: dict[str, int] = {}
        app: dict[str, int] = {}
        for index, picks in enumerate(amounts):
            for name, amount in picks:
                if index < ask.init_count:
                    init[name] = max(init.get(name, 0), amount)
                else:
                    app[name] = app.get(name, 0) + amount
        total = sum(max(init.get(name, 0), app.get(name, 0)) for name in {*init, *app})
        if most is not None and total > most:
            return True
    return False


def instance(card: Card, occupied: list[MigPlacement], memory: int) -> Any:
    """Return the smallest profile with enough memory that has a free place, and that place."""
    for profile in sorted(
        card["device"].mig_profiles, key=lambda item: (item.memory_mib, item.slices)
    ):
        if profile.memory_mib < memory:
            continue
        falling = profile.name.startswith(("1g.", "3g."))
        for place in sorted(profile.placements, key=lambda item: item.start, reverse=falling):
            if not any(place.overlaps(other) for other in occupied):
                return profile, place
    return None


def charge(card: Card, memory: int, cores: int) -> tuple[str, int, int]:
    """Charge one pick to the trial usage and return it as it is recorded."""
    if card["device"].mode == "mig":
        profile, place = instance(card, card["occupied"], memory)
        card["occupied"].append(place)
        memory, cores = profile.memory_mib, profile.cores
    card["used"] += 1
    card["memory"] += memory
    card["cores"] += cores
    return card["device"].id, memory, cores


def sorted_cards(ask: NvidiaAsk, request: Request, trial: list[Card]) -> list[Card]:
    """Return the cards in policy order; the last one is tried first."""
    policy = ask.device_policy
    load = {id(card): score(ask, request, card) for card in trial}
    numa = {id(card): card["device"].numa for card in trial}
    if "," in policy or policy == "numa":
        known = [part.strip() for part in policy.split(",")]
        keys = list(dict.fromkeys(k for k in known if k in {"binpack", "spread", "numa"}))
        keys = keys or ["spread"]
        if ask.numa_bind and keys[0] != "numa":
            keys = ["numa", *(key for key in keys if key != "numa")]
        by: dict[str, Callable[[Card], Any]] = {
            "binpack": lambda card: load[id(card)],
            "spread": lambda card: -load[id(card)],
            "numa": lambda card: numa[id(card)],
        }
        return sorted(trial, key=lambda c: (*(by[key](c) for key in keys), c["device"].index))
    if policy == "mutex":
        return sorted(trial, key=lambda c: (-c["used"], numa[id(c)]))
    if policy == "binpack":
        if ask.numa_bind:
            return sorted(trial, key=lambda c: (-numa[id(c)], load[id(c)]))
        return sorted(trial, key=lambda c: (load[id(c)], numa[id(c)]))
    if ask.numa_bind:
        return sorted(trial, key=lambda c: (numa[id(c)], -load[id(c)]))
    return sorted(trial, key=lambda c: (-load[id(c)], numa[id(c)]))


def score(ask: NvidiaAsk, request: Request, card: Card) -> np.float32:
    """Return the card's load in single precision, operation by operation."""
    device = card["device"]
    if not device.slots or not device.cores or not device.memory_mib:
        return F(0)
    slots, cores, memory = card["used"], card["cores"], card["memory"]
    if device.type == "NVIDIA":
        slots += 1
        cores += request.cores
        pct = request.memory_pct or 0
        memory += device.memory_mib * pct // 100 if pct else request.memory_mib
    weights = ask.weights
    parts = (
        F(weights.slot) * (F(slots) / F(device.slots)),
        F(weights.core) * (F(cores) / F(device.cores)),
        F(weights.memory) * (F(memory) / F(device.memory_mib)),
    )
    return F(10) * ((parts[0] + parts[1]) + parts[2])
