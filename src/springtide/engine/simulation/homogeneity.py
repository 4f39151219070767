"""The devices of a new node, agreed upon by the nodes that exist (device-profile contract §2–3).

Stable fields must agree across samples as the policy says; dynamic ones are reset: ids are made
up, every device is healthy and free. A NUMA node that samples disagree on is unknown; each such
device then stands on a node of its own, so that nothing that asks for NUMA binding relies on it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from springtide.model.device import Device, Inventory
from springtide.model.profile import Homogeneity, on_unknown_numa
from springtide.model.refusal import Refusal

_FIELDS = ("type", "memory_mib", "cores", "slots", "mode", "mig_profiles", "links", "network")


def agreed(
    group: str, samples: Sequence[tuple[str, Inventory]], policy: Homogeneity
) -> Inventory | Refusal:
    """Return the inventory of a new node, or why the samples (node name, inventory) give none."""
    family = samples[0][1].family
    fresh = [(node, as_new(group, inventory)) for node, inventory in samples]
    answer = _RULES[policy](fresh)
    if isinstance(answer, str):
        return Refusal(
            rule=family,
            reasons=(f"device profile heterogeneous: {answer}",),
            is_unresolvable=True,
        )
    return Inventory(family, answer)


Sample = tuple[str, tuple[Device, ...]]


def as_new(group: str, inventory: Inventory) -> tuple[Device, ...]:
    """Return the devices as those of a node of this group that has just come up."""
    ids = {
        device.id: f"template-{group}-{position}"
        for position, device in enumerate(inventory.devices)
    }
    return tuple(
        replace(
            device,
            id=ids[device.id],
            is_healthy=True,
            is_cordoned=False,
            links=tuple(
                sorted((ids[other], score) for other, score in device.links if other in ids)
            ),
        )
        for device in inventory.devices
    )


def _strict(samples: Sequence[Sample]) -> tuple[Device, ...] | str:
    node, first = samples[0]
    for other, devices in samples[1:]:
        if len(devices) != len(first):
            return f"{len(first)} devices on {node}, {len(devices)} on {other}"
        for position, (one, two) in enumerate(zip(first, devices, strict=True)):
            for field in _FIELDS:
                if getattr(one, field) != getattr(two, field):
                    return _differs(field, position, (node, one), (other, two))
    return _with_agreed_numa(first, [devices for _, devices in samples])


def _differs(field: str, position: int, one: tuple[str, Device], two: tuple[str, Device]) -> str:
    where = f"{field} of device {position}"
    if field in {"mig_profiles", "links"}:
        return f"{where} on {one[0]} and {two[0]}"
    values = (getattr(device, field) for _, device in (one, two))
    return f"{where} is " + ", ".join(
        f"{value!r} on {node}" for value, node in zip(values, (one[0], two[0]), strict=True)
    )


def _minimum(samples: Sequence[Sample]) -> tuple[Device, ...] | str:
    count = min(len(devices) for _, devices in samples)
    ids = {device.id for device in samples[0][1][:count]}
    chosen = []
    for position in range(count):
        column = [devices[position] for _, devices in samples]
        if len({device.mode for device in column}) > 1:
            nodes = sorted({devices[position].mode: node for node, devices in samples}.values())
            return f"mode of device {position} differs on {', '.join(nodes)}"
        weakest = min(column, key=lambda device: (device.memory_mib, device.cores, device.slots))
        chosen.append(
            replace(
                weakest,
                memory_mib=min(device.memory_mib for device in column),
                cores=min(device.cores for device in column),
                slots=min(device.slots for device in column),
                links=tuple(pair for pair in weakest.links if pair[0] in ids),
            )
        )
    return _with_agreed_numa(tuple(chosen), [devices for _, devices in samples])


def _majority(samples: Sequence[Sample]) -> tuple[Device, ...] | str:
    counted = Counter(
        tuple(tuple(getattr(device, field) for field in _FIELDS) for device in devices)
        for _, devices in samples
    )
    shape, count = counted.most_common(1)[0]
    if 2 * count <= len(samples):
        return f"no inventory is on more than half of the {len(samples)} nodes"
    same = [
        devices
        for _, devices in samples
        if tuple(tuple(getattr(device, field) for field in _FIELDS) for device in devices) == shape
    ]
    return _with_agreed_numa(same[0], same)


def _with_agreed_numa(
    devices: tuple[Device, ...], samples: Sequence[tuple[Device, ...]]
) -> tuple[Device, ...]:
    return tuple(
        device
        if len({sample[position].numa for sample in samples}) == 1
        else on_unknown_numa(device, position)
        for position, device in enumerate(devices)
    )


_RULES: Mapping[Homogeneity, Callable[[Sequence[Sample]], tuple[Device, ...] | str]] = {
    Homogeneity.STRICT: _strict,
    Homogeneity.MINIMUM: _minimum,
    Homogeneity.MAJORITY: _majority,
}
