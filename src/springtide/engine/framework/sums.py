"""Exact sums of what containers ask, in nano units by resource name.

A pod needs what its containers need together, and at times more while it starts: init containers
run one after the other, beside the sidecars that were started before them.
"""

from collections.abc import Callable, Mapping

from springtide.base.names import CPU, MEMORY
from springtide.model.pod import Container, PodSpec
from springtide.model.resources import Resources

Nanos = dict[str, int]

_HUGE_PAGES_PREFIX = "hugepages-"


def nanos(resources: Resources) -> Nanos:
    """Return the exact values by name."""
    return {name: quantity.nano for name, quantity in resources}


def over_containers(spec: PodSpec, asked: Callable[[Container], Resources]) -> Nanos:
    """Return what the pod needs at its peak, if each container needs what `asked` says."""
    total: Nanos = {}
    sidecars: Nanos = {}
    peak: Nanos = {}
    for container in spec.containers:
        add(total, nanos(asked(container)))
    for container in spec.init_containers:
        own = nanos(asked(container))
        if container.is_sidecar:
            add(total, own)
            add(sidecars, own)
            raise_to(peak, sidecars)
        else:
            raise_to(peak, add(own, sidecars))
    return raise_to(total, peak)


def add(totals: Nanos, more: Mapping[str, int]) -> Nanos:
    """Add in place, and return the totals."""
    for name, nano in more.items():
        totals[name] = totals.get(name, 0) + nano
    return totals


def raise_to(peaks: Nanos, others: Mapping[str, int]) -> Nanos:
    """Raise each peak in place to the other value where that is higher, and return the peaks."""
    for name, nano in others.items():
        if name not in peaks or nano > peaks[name]:
            peaks[name] = nano
    return peaks


def at_pod_level(stated: Mapping[str, int]) -> Nanos:
    """Return the part of these amounts that may be stated for a pod as a whole."""
    return {name: nano for name, nano in stated.items() if _is_pod_level(name)}


def _is_pod_level(name: str) -> bool:
    return name in {CPU, MEMORY} or name.startswith(_HUGE_PAGES_PREFIX)
