"""What a pod asks of a node's resources and ports, and what a pod that runs there holds.

Sums are exact; they are rounded away from zero once, at the end, to the scheduler's units. Names
that kube-scheduler does not count are left out. All questions are answered once for equal specs,
because replicas share theirs.
"""

from functools import lru_cache
from typing import Final

from springtide.base.names import NATIVE_NAMES, PODS, is_scalar_resource
from springtide.base.quantity import Quantity
from springtide.engine.framework.resize import held_nanos
from springtide.engine.framework.sums import Nanos, add, at_pod_level, nanos, over_containers
from springtide.model.pod import HostPort, Pod, PodSpec, Resize
from springtide.model.resources import Amounts, amount

SPEC_CACHE_ENTRIES: Final = 16_384
ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - the wildcard of the API, nothing is bound here
TCP: Final = "TCP"


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def pod_requests(spec: PodSpec) -> Amounts:
    """Return what an incoming pod asks, without itself as one of `pods`. Shared: do not change it."""
    asked = over_containers(spec, lambda container: container.requests)
    asked.update(at_pod_level(nanos(spec.requests)))
    return _counted(add(asked, nanos(spec.overhead)))


def held_requests(pod: Pod) -> Amounts:
    """Return what a pod holds on its node, without itself as one of `pods`. Do not change it."""
    return pod_requests(pod.spec) if pod.resize is None else _held(pod.spec, pod.resize)


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def pod_host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """Return the node ports of a pod; init containers that end before it runs keep none."""
    sidecars = (each for each in spec.init_containers if each.is_sidecar)
    ports = (port for each in (*spec.containers, *sidecars) for port in each.host_ports)
    return tuple(_normal(port) for port in ports if port.port > 0)


def is_counted(name: str) -> bool:
    """Return whether kube-scheduler counts what pods ask under this name."""
    return name != PODS and (name in NATIVE_NAMES or is_scalar_resource(name))


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def _held(spec: PodSpec, resize: Resize) -> Amounts:
    return _counted(add(held_nanos(spec, resize), nanos(spec.overhead)))


def _counted(totals: Nanos) -> Amounts:
    return {
        name: amount(name, Quantity(nano=nano)) for name, nano in totals.items() if is_counted(name)
    }


def _normal(port: HostPort) -> HostPort:
    return HostPort(
        host_ip=port.host_ip or ANY_ADDRESS, protocol=port.protocol or TCP, port=port.port
    )
