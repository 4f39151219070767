"""Whole numbers that a container asks of a family's resources, read or refused.

A limit counts before a request. A quantity that makes no sense (`16Gi` MiB, half a card, a negative
number) is refused with the name of the container and the resource. HAMi lets such pods pass as if
they asked for nothing; then they run into the device plugin, which knows nothing of them.
"""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import structs

from springtide.base.quantity import NANO, Quantity, of
from springtide.engine.placement.score import EVEN, Weights, parse_weights
from springtide.model.pod import Container, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import Resources, lookup

INT32_MAX: Final = 2**31 - 1
_MIB: Final = 2**20


def quantities(container: Container, name: str) -> Iterator[Quantity]:
    """Yield what a container says of a resource: its limit, then its request."""
    for resources in (container.limits, container.requests):
        quantity = lookup(resources, name) if name else None
        if quantity is not None:
            yield quantity


def first(container: Container, name: str) -> Quantity | None:
    """Return what counts of a resource, or None if the container does not name it."""
    return next(quantities(container, name), None)


def amount(
    container: Container, name: str, *, family: str, maximum: int = INT32_MAX
) -> int | Refusal | None:
    """Return how much of a resource is asked; None if nothing, a Refusal if it makes no sense."""
    quantity = first(container, name)
    if quantity is None:
        return None
    units, rest = divmod(quantity.nano, NANO)
    if not rest and 0 <= units <= maximum:
        return units
    mib, rest = divmod(quantity.nano, NANO * _MIB)
    reason = (
        f"container {container.name} asks {name}: {quantity}, "
        f"which is not a whole number from 0 to {maximum}"
    )
    return Refusal(
        rule=family,
        reasons=(reason,),
        is_unresolvable=True,
        detail=f"memory is counted in MiB: write {mib}" if mib > 0 and not rest else "",
    )


def weights_in(value: str | None, *, key: str, family: str) -> Weights | Refusal:
    """Return the weights in the value of this annotation, even ones without it, or a Refusal."""
    if value is None:
        return EVEN
    weights = parse_weights(value)
    if isinstance(weights, Weights):
        return weights
    return Refusal(
        rule=family,
        reasons=(f'invalid {key} annotation "{value}": {weights}',),
        is_unresolvable=True,
        is_fault=True,
    )


def each_admitted(
    spec: PodSpec, admitted: Callable[[Container], Container | Refusal]
) -> PodSpec | Refusal:
    """Return the spec with every container admitted, the same object if none changes, or a denial."""
    init = _all_admitted(spec.init_containers, admitted)
    if isinstance(init, Refusal):
        return init
    app = _all_admitted(spec.containers, admitted)
    if isinstance(app, Refusal):
        return app
    if init == spec.init_containers and app == spec.containers:
        return spec
    return structs.replace(spec, init_containers=init, containers=app)


def _all_admitted(
    containers: tuple[Container, ...], admitted: Callable[[Container], Container | Refusal]
) -> tuple[Container, ...] | Refusal:
    answers: list[Container] = []
    for container in containers:
        answer = admitted(container)
        if isinstance(answer, Refusal):
            return answer
        answers.append(answer)
    return tuple(answers)


def with_amount(container: Container, name: str, value: int) -> Container:
    """Return the container with this limit, and the request that an extended resource must have."""
    # The API server wants the request of an extended resource to equal its limit.
    return structs.replace(
        container,
        limits=_set(container.limits, name, value),
        requests=_set(container.requests, name, value),
    )


def _set(resources: Resources, name: str, value: int) -> Resources:
    kept = [pair for pair in resources if pair[0] != name]
    return tuple(sorted([*kept, (name, of(value))], key=lambda pair: pair[0]))
