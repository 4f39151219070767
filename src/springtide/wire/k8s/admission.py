"""What the API server would have filled in, for specs that it has never seen.

A stored pod is complete: there, a limit without a request asks for nothing. A manifest is not: the
API server copies limits to missing requests (its defaulting of pods, not of pod templates). Device
families have webhooks of their own, which are not modelled here.
"""

from typing import Final

import msgspec

from springtide.base.names import CPU, MEMORY
from springtide.base.quantity import Quantity, compare
from springtide.model.pod import Container, PodSpec
from springtide.model.resources import Resources

HUGE_PAGES_PREFIX: Final = "hugepages-"
# Only these may be overcommitted, so only for these a pod's request follows from its containers.
_OVERCOMMITTED: Final = frozenset({CPU, MEMORY})


def admitted(spec: PodSpec) -> PodSpec:
    """Return the spec with the requests that its limits imply."""
    containers = tuple(_defaulted(each) for each in spec.containers)
    init_containers = tuple(_defaulted(each) for each in spec.init_containers)
    filled = msgspec.structs.replace(spec, containers=containers, init_containers=init_containers)
    return msgspec.structs.replace(filled, requests=_pod_requests(filled))


def _defaulted(container: Container) -> Container:
    if not container.limits:
        return container
    requests = _merged(container.requests, container.limits)
    return msgspec.structs.replace(container, requests=requests)


def _pod_requests(spec: PodSpec) -> Resources:
    if not spec.limits:
        return spec.requests
    summed = {
        name: each for name, each in _container_requests(spec).items() if name in _OVERCOMMITTED
    }
    allowed = tuple(
        (name, each)
        for name, each in spec.limits
        if name in _OVERCOMMITTED or name.startswith(HUGE_PAGES_PREFIX)
    )
    return _merged(_merged(spec.requests, tuple(summed.items())), allowed)


def _container_requests(spec: PodSpec) -> dict[str, Quantity]:
    """Return what all containers need together: the sum, or more while init containers run."""
    total: dict[str, Quantity] = {}
    sidecars: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in spec.containers:
        _add(total, container.requests)
    for container in spec.init_containers:
        if container.is_sidecar:
            _add(total, container.requests)
            _add(sidecars, container.requests)
            _raise(peak, sidecars)
        else:
            needed = dict(sidecars)
            _add(needed, container.requests)
            _raise(peak, needed)
    _raise(total, peak)
    return total


def _add(total: dict[str, Quantity], resources: Resources) -> None:
    for name, each in resources:
        total[name] = total[name].add(each) if name in total else each


def _raise(peak: dict[str, Quantity], needed: dict[str, Quantity]) -> None:
    for name, each in needed.items():
        if name not in peak or compare(each, peak[name]) > 0:
            peak[name] = each


def _merged(resources: Resources, defaults: Resources) -> Resources:
    return tuple(sorted({**dict(defaults), **dict(resources)}.items()))
