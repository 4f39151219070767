"""What a pod as a whole costs on each device it touches.

Init containers run one after the other and never beside the app containers, so a device is charged
the larger of the largest init container and the sum of the app containers. Every app container takes
one sharing slot of each of its devices; init containers share one.
"""

from collections.abc import Iterable, Sequence

import msgspec

from springtide.model.device import Grant


class Charge(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one pod holds of one device."""

    device_id: str
    slots: int
    memory_mib: int
    cores: int


def collapse(containers: Sequence[Sequence[Grant]], init_count: int) -> tuple[Charge, ...]:
    """Return the charges of a pod, sorted by device id; the first `init_count` lists are init."""
    app = _by_device(containers[init_count:])
    if not any(containers[:init_count]):
        return tuple([_charge(device_id, (), app[device_id]) for device_id in sorted(app)])
    init = _by_device(containers[:init_count])
    return tuple(
        _charge(device_id, init.get(device_id, ()), app.get(device_id, ()))
        for device_id in sorted(init.keys() | app.keys())
    )


def _by_device(containers: Iterable[Iterable[Grant]]) -> dict[str, list[Grant]]:
    grants: dict[str, list[Grant]] = {}
    for container in containers:
        for grant in container:
            grants.setdefault(grant.device_id, []).append(grant)
    return grants


def _charge(device_id: str, init: Sequence[Grant], app: Sequence[Grant]) -> Charge:
    if not init and len(app) == 1:
        only = app[0]
        # Written by hand, an allocation may be negative; it frees nothing.
        memory_mib, cores = max(only.memory_mib, 0), max(only.cores, 0)
        return Charge(device_id=device_id, slots=1, memory_mib=memory_mib, cores=cores)
    return Charge(
        device_id=device_id,
        slots=max(len(app), 1),
        memory_mib=max(_most(g.memory_mib for g in init), sum(g.memory_mib for g in app)),
        cores=max(_most(g.cores for g in init), sum(g.cores for g in app)),
    )


def _most(numbers: Iterable[int]) -> int:
    return max(numbers, default=0)
