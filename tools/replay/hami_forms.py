"""What we read and hold, in the form in which HAMi's recordings write it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from springtide.base.quantity import Quantity
from springtide.model.device import Device, DeviceView, Inventory, Share
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.wire.k8s import schema
from tools.replay.hami_kinds import Json, Kind


def schema_pod(pod: Json) -> schema.Pod:
    """Return a pod object as read."""
    return msgspec.json.decode(json.dumps({"kind": "Pod", **pod}), type=schema.Pod)


def fingerprint(node: Json, kind: Kind) -> object:
    """Return what makes HAMi read a node's registration again."""
    annotations = node["metadata"].get("annotations", {})
    allocatable = node["status"].get("allocatable", {})
    return [(annotations.get(key), allocatable.get(name)) for key, name in kind.registers.values()]


def recorded_form(inventory: Inventory, *, has_mode: bool) -> list[dict[str, Any]]:
    """Return an inventory as the recording writes it; a mode that we derive is not in it."""
    return [
        _recorded_device(device if has_mode else structs.replace(device, mode=""))
        for device in inventory.devices
    ]


def _recorded_device(device: Device) -> dict[str, Any]:
    form: dict[str, Any] = {
        "id": device.id, "index": device.index, "count": device.slots,
        "devmem": device.memory_mib, "devcore": device.cores, "type": device.type,
        "numa": device.numa, "health": device.is_healthy,
    }  # fmt: skip
    if device.mode:
        form["mode"] = device.mode
    if device.mig_profiles:
        form["migProfiles"] = [
            {
                "name": profile.name,
                "memoryMB": profile.memory_mib,
                "core": profile.cores,
                "sliceCount": profile.slices,
                "placements": [{"start": p.start, "size": p.size} for p in profile.placements],
            }
            for profile in device.mig_profiles
        ]
    if device.network is not None:
        form["custominfo"] = {"NetworkID": device.network}
    if device.links:
        form["pairScore"] = dict(device.links)
    return form


def usage_of(ledger: Ledger) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the use of every card in the recorded form, MIG without profile names."""
    usage = {}
    for name, row in ledger.rows.items():
        views = [ledger.view(row, family) for family in ledger.devices]
        cards = {
            device_id: card
            for view in views
            if view is not None
            for device_id, card in card_usage(view).items()
        }
        if cards:
            usage[name] = cards
    return usage


def card_usage(view: DeviceView) -> dict[str, dict[str, Any]]:
    """Return the use of one node's cards in the recorded form."""
    cards: dict[str, dict[str, Any]] = {}
    for device, use in zip(view.inventory.devices, view.uses, strict=True):
        card: dict[str, Any] = {}
        if use.slots or use.memory_mib or use.cores:
            card = {"used": use.slots, "mem": use.memory_mib, "cores": use.cores}
        if use.occupied:
            card["mig"] = sorted(f"{place.start}+{place.size}" for place in use.occupied)
        if use.opaque or not device.is_healthy:
            card["health"] = False
        if card:
            cards[device.id] = card
    return cards


def without_profiles(usage: Json) -> dict[str, dict[str, Any]]:
    """Return recorded usage with MIG placements only."""
    return {
        node: {
            card: {
                key: sorted(item.split("@")[1] for item in value) if key == "mig" else value
                for key, value in entry.items()
            }
            for card, entry in cards.items()
        }
        for node, cards in usage.items()
    }


def allocations_of(pod: Pod) -> list[str]:
    """Return the annotations in which families wrote what the pod holds."""
    return [key for key in pod.annotations if key.endswith("-allocated")]


def unpadded(text: str) -> str:
    """Return an allocation as HAMi writes it: without the entries of containers without cards."""
    return "".join(f"{segment};" for segment in text.split(";") if segment)


def nano(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Return quantities by value, whatever their spelling."""
    return {name: quantity.nano for name, quantity in quantities.items()}


def texts(scores: Mapping[str, float]) -> dict[str, str]:
    """Return scores as HAMi writes them; the sign only says which end is preferred."""
    return {name: f"{abs(score):.2f}" for name, score in scores.items()}


def sorted_shares(shares: Sequence[Share]) -> list[Share]:
    """Return shares in a comparable order."""
    return sorted(shares, key=lambda share: (share.position, share.slots, share.memory_mib))
