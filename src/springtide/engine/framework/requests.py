"""What a pod asks of a node's resources and ports, and what a pod that runs there holds.

Sums are exact; they are rounded away from zero once, at the end, to the scheduler's units. Both
questions are answered once for equal specs, because replicas share theirs.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from springtide.base.names import NATIVE_NAMES, is_scalar_resource
from springtide.base.quantity import Quantity
from springtide.model.pod import Container, ContainerResize, HostPort, Pod, PodSpec, Resize
from springtide.model.resources import CPU, MEMORY, PODS, Amounts, Resources, amount

SPEC_CACHE_ENTRIES: Final = 16384
ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - the wildcard of the API, nothing is bound here
_TCP: Final = "TCP"

_Nanos = dict[str, int]
_HUGE_PAGES_PREFIX: Final = "hugepages-"


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def pod_requests(spec: PodSpec) -> Amounts:
    """Return what an incoming pod asks, without its `pods: 1`; read it, never change it."""
    totals = _containers_total(spec, lambda container: container.requests)
    _override(totals, spec.requests)
    return _counted(_plus(totals, spec.overhead))


def held_requests(pod: Pod) -> Amounts:
    """Return what a pod on a node holds of its resources, without its `pods: 1`."""
    return pod_requests(pod.spec) if pod.resize is None else _held(pod.spec, pod.resize)


def held_amounts(pod: Pod) -> tuple[tuple[str, int], ...]:
    """Return what a pod on a node holds, as a ledger's holding wants it: `pods: 1`, no zeros."""
    return _as_holding(pod.spec, pod.resize)


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def pod_host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """Return the node ports of a spec; init containers that end before the others have none."""
    sidecars = (each for each in spec.init_containers if each.is_sidecar)
    ports = (port for each in (*spec.containers, *sidecars) for port in each.host_ports)
    return tuple(_normal(port) for port in ports if port.port > 0)


def _normal(port: HostPort) -> HostPort:
    return HostPort(
        host_ip=port.host_ip or ANY_ADDRESS, protocol=port.protocol or _TCP, port=port.port
    )


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def _as_holding(spec: PodSpec, resize: Resize | None) -> tuple[tuple[str, int], ...]:
    held = pod_requests(spec) if resize is None else _held(spec, resize)
    return ((PODS, 1), *((name, count) for name, count in held.items() if count))


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def _held(spec: PodSpec, resize: Resize) -> Amounts:
    totals = _resized_containers(spec, resize)
    return _counted(_plus(totals, spec.overhead))
