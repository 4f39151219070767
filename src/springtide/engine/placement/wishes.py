"""What a pod wishes of devices, one amount at a time, and the pod with one of them lowered.

A family says which resources carry the wishes and what stands for one that is not written; lowering
one edits the containers as a person would edit the manifest.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.quantity import NANO, Quantity, of
from springtide.model.pod import Container, Pod
from springtide.model.resources import Resources, lookup


class WishKind(StrEnum):
    """What of a device, or of devices, a wish is about."""

    DEVICES = "Devices"
    MEMORY = "Memory"
    MEMORY_PART = "MemoryPart"
    CORES = "Cores"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """The most that any container asks under one resource name.

    Containers that ask for devices are those that name `marker`; `default` stands for the resource
    where such a container does not write it, None if then there is no such wish, and `overruled_by`
    names the resource beside which it does not count. Lowering a wish from `asked` to below takes
    away what `whole_only` names. `factor` times the amount is in the family's unit.
    """

    kind: WishKind
    resource: str
    marker: str
    asked: int = 0
    least: int = 1
    default: int | None = None
    overruled_by: str = ""
    whole_only: str = ""
    factor: int = 1


Edit = Callable[[Container], Container]

_NOTHING: Final = of(0)


def wishes_in(pod: Pod, patterns: Iterable[Wish]) -> tuple[Wish, ...]:
    """Return the wishes that a pod makes of those that can be made, each with what it asks."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    found = []
    for pattern in patterns:
        amounts = (wished(container, pattern) for container in containers)
        asked = max((amount for amount in amounts if amount), default=0)
        if pattern.resource and asked:
            found.append(replace(pattern, asked=asked))
    return tuple(found)


def lowered(pod: Pod, wish: Wish, value: int) -> Pod:
    """Return the pod with no container asking more than this value."""
    return edited(pod, lambda container: _lowered(container, wish, value))


def edited(pod: Pod, edit: Edit) -> Pod:
    """Return the pod with all containers edited, init containers too."""
    spec = replace(
        pod.spec,
        init_containers=tuple(map(edit, pod.spec.init_containers)),
        containers=tuple(map(edit, pod.spec.containers)),
    )
    return replace(pod, spec=spec)


def written(container: Container, resource: str) -> Quantity | None:
    """Return what a container says of a resource: its limit, or else its request."""
    limit = lookup(container.limits, resource)
    return lookup(container.requests, resource) if limit is None else limit


def put(resources: Resources, name: str, quantity: Quantity) -> Resources:
    """Return the resources with this quantity under this name."""
    kept = (pair for pair in resources if pair[0] != name)
    return tuple(sorted((*kept, (name, quantity)), key=lambda pair: pair[0]))


def _lowered(container: Container, wish: Wish, value: int) -> Container:
    asked = wished(container, wish)
    if asked is None or asked <= value:
        return container
    if asked == wish.asked and wish.whole_only:
        container = _without(container, wish.whole_only)
    return replace(
        container,
        limits=put(container.limits, wish.resource, of(value)),
        requests=put(container.requests, wish.resource, of(value)),
    )


def wished(container: Container, wish: Wish) -> int | None:
    """Return what a container asks of this, None if nothing."""
    if not (written(container, wish.marker) or _NOTHING).nano:
        return None
    if wish.overruled_by and (written(container, wish.overruled_by) or _NOTHING).nano:
        return None
    quantity = written(container, wish.resource)
    if quantity is None:
        return wish.default
    return quantity.nano // NANO


def _without(container: Container, name: str) -> Container:
    return replace(
        container,
        limits=tuple(pair for pair in container.limits if pair[0] != name),
        requests=tuple(pair for pair in container.requests if pair[0] != name),
    )
