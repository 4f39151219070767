"""What scores take a pod to need where its containers state no cpu or no memory.

A container that states none of either counts as a little of it, so that pods without requests do
not all end up on one node. A container that states zero means it. Only the scores that compare free
room count so; no filter does.
"""

from functools import lru_cache
from typing import Final

from springtide.base.names import CPU, MEMORY
from springtide.base.quantity import Quantity
from springtide.engine.framework.requests import SPEC_CACHE_ENTRIES
from springtide.engine.framework.resize import Completion, as_stated, held_nanos
from springtide.engine.framework.sums import Nanos, add, at_pod_level, nanos, over_containers
from springtide.model.ledger import Unstated
from springtide.model.pod import PodSpec, Resize
from springtide.model.resources import Amounts, Resources, amount

Assumed = dict[str, Quantity]

ASSUMED: Final[Assumed] = {
    CPU: Quantity(nano=100 * 10**6),
    MEMORY: Quantity(nano=200 * 2**20 * 10**9),
}
"""A tenth of a core and 200 MiB."""


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def assumed_requests(spec: PodSpec) -> Amounts:
    """Return what an incoming pod is taken to ask by its containers. Shared: do not change it.

    kube-scheduler looks past what is stated for the pod as a whole here, though not elsewhere.
    """
    asked = over_containers(spec, lambda container: _completed(container.requests, ASSUMED))
    add(asked, nanos(spec.overhead))
    return {name: _amount(name, asked) for name in asked}


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def unstated(spec: PodSpec, resize: Resize | None = None) -> Unstated | None:
    """Return what is added to the cpu and memory that a pod holds, None if nothing is."""
    stated = _held(spec, resize)
    # What is stated for the pod as a whole, or by any of its containers, is enough then.
    enough = stated.keys() if at_pod_level(nanos(spec.requests)) else frozenset[str]()
    assumed = {name: quantity for name, quantity in ASSUMED.items() if name not in enough}
    if not assumed:
        return None
    held = _held(spec, resize, lambda requests: _completed(requests, assumed))
    cpu, memory = (_amount(name, held) - _amount(name, stated) for name in (CPU, MEMORY))
    return (cpu, memory) if cpu or memory else None


def _held(spec: PodSpec, resize: Resize | None, complete: Completion = as_stated) -> Nanos:
    if resize is not None:
        return add(held_nanos(spec, resize, complete), nanos(spec.overhead))
    asked = over_containers(spec, lambda container: complete(container.requests))
    asked.update(at_pod_level(nanos(spec.requests)))
    return add(asked, nanos(spec.overhead))


def _completed(requests: Resources, assumed: Assumed) -> Resources:
    return tuple((assumed | dict(requests)).items())


def _amount(name: str, totals: Nanos) -> int:
    return amount(name, Quantity(nano=totals.get(name, 0)))
