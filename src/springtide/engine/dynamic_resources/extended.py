"""Extended resources that a class of devices stands for: the requests that pods make of them.

A pod asks for `example.com/gpu: 2`, and a class says that its devices are counted under that name.
On nodes that do not offer the resource themselves, the pod gets a claim with one request for each
container. What an init container needs beyond what later containers keep is a request of its own.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from springtide.base.names import is_extended_resource
from springtide.model.device_slices import DeviceClass
from springtide.model.pod import Container, PodSpec
from springtide.model.resource_claims import DeviceRequest, Exactly

IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
SPEC_CACHE_ENTRIES: Final = 4096


def classes_by_resource(classes: Iterable[DeviceClass]) -> Mapping[str, DeviceClass]:
    """Return the class behind each resource name; of several the youngest, then the first by name."""
    found: dict[str, DeviceClass] = {}
    by_name = sorted(classes, key=lambda each: each.name)
    # Sorting is stable, so that names still decide among equally old ones.
    for each in sorted(by_name, key=lambda each: each.created, reverse=True):
        found[f"{IMPLICIT_PREFIX}{each.name}"] = each
        if each.extended_resource:
            found.setdefault(each.extended_resource, each)
    return found


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def extended_names(spec: PodSpec) -> frozenset[str]:
    """Return the extended resources of which a pod asks more than nothing."""
    containers = (*spec.containers, *spec.init_containers)
    return frozenset(
        name
        for each in containers
        for name, amount in each.requests
        if amount.nano > 0 and (is_extended_resource(name) or name.startswith(IMPLICIT_PREFIX))
    )


def extended_requests(spec: PodSpec, classes: Mapping[str, DeviceClass]) -> tuple[Exactly, ...]:
    """Return the requests for the resources of these names, in the order of the containers."""
    containers = (*spec.init_containers, *spec.containers)
    ordinals: dict[int, int] = {}
    found: list[tuple[int, Exactly]] = []
    for name in sorted(classes):
        for index, count in enumerate(_counts(spec, name)):
            if count:
                ordinal = ordinals[index] = ordinals.get(index, -1) + 1
                request = DeviceRequest(
                    name=f"container-{index}-request-{ordinal}",
                    class_name=classes[name].name,
                    count=count,
                )
                found.append((index, Exactly(request)))
    assert len(ordinals) <= len(containers)
    found.sort(key=lambda pair: pair[0])
    return tuple(request for _, request in found)


def _counts(spec: PodSpec, name: str) -> list[int]:
    """Return how many devices each container adds; init containers first."""
    init = [_asked(each, name) for each in spec.init_containers]
    main = [_asked(each, name) for each in spec.containers]
    kept = sum(main) + sum(
        count for each, count in zip(spec.init_containers, init, strict=True) if each.is_sidecar
    )
    beside = 0
    for index, each in enumerate(spec.init_containers):
        if each.is_sidecar:
            beside += init[index]
            continue
        surplus = max(0, init[index] + beside - kept)
        init[index] = surplus
        kept += surplus
    return init + main


def _asked(container: Container, name: str) -> int:
    amount = dict(container.requests).get(name)
    return amount.value() if amount is not None else 0
