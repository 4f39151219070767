"""Pod specs as model specs: one shared object for equal ones.

A spec is found by the bytes of its parts, so that only the first of many replicas is converted.
`is_manifest` reads a spec that no API server has seen, and fills in what one would: the host ports
of pods on the host's network, and the requests that follow from limits.
"""

from collections.abc import Hashable
from typing import Final

import msgspec

from springtide.base.selectors import NodeSelectorTerm
from springtide.base.taints import Toleration
from springtide.model.pod import Container, HostPort, PodClaim, PodSpec
from springtide.wire.k8s import schema
from springtide.wire.k8s.admission import admitted
from springtide.wire.k8s.between import to_neighbours
from springtide.wire.k8s.classes import NEVER
from springtide.wire.k8s.features import required_features
from springtide.wire.k8s.foreign import foreign_fields
from springtide.wire.k8s.parts import Parts, decoded, is_given
from springtide.wire.k8s.volumes import to_volumes

DEFAULT_SCHEDULER: Final = "default-scheduler"
ALWAYS: Final = "Always"

_LABELS: Final = msgspec.json.Decoder(dict[str, str])
_AFFINITY: Final = msgspec.json.Decoder(schema.Affinity)
_TOLERATIONS: Final = msgspec.json.Decoder(tuple[Toleration, ...])
_PORTS: Final = msgspec.json.Decoder(tuple[schema.ContainerPort, ...])


def to_spec(
    read: schema.PodSpec, parts: Parts, *, path: str = "spec", is_manifest: bool = False
) -> PodSpec:
    """Return the shared model spec, or raise MalformedObject."""
    key = _key(read, is_manifest=is_manifest)

    def make() -> PodSpec:
        made = _Reading(read, parts, path=path, is_manifest=is_manifest).spec()
        return admitted(made) if is_manifest else made

    return parts.spec(key, make)


def _key(read: schema.PodSpec, *, is_manifest: bool) -> Hashable:
    """Return all that decides about the spec, hashable, without converting any of it."""
    return (
        _containers_key(read.containers),
        _containers_key(read.init_containers),
        bytes(read.node_selector),
        bytes(read.affinity),
        bytes(read.tolerations),
        bytes(read.topology_spread_constraints),
        bytes(read.overhead),
        bytes(read.resources),
        read.scheduler_name,
        read.priority,
        read.preemption_policy,
        read.scheduling_gates,
        read.resource_claims,
        # The names of other volumes are made up for each pod.
        tuple([each for each in read.volumes if each.decides]),
        is_manifest,
        read.host_network,
        read.host_users,
    )


def _containers_key(containers: tuple[schema.Container, ...]) -> Hashable:
    return tuple(
        [
            (
                each.name,
                bytes(each.resources),
                bytes(each.ports),
                each.restart_policy,
                each.restart_policy_rules,
            )
            for each in containers
        ]
    )


class _Reading:
    """One spec on its way into the model, with the path for complaints."""

    __slots__ = ("_has_host_ports", "_is_manifest", "_parts", "_path", "_read")

    def __init__(self, read: schema.PodSpec, parts: Parts, *, path: str, is_manifest: bool) -> None:
        self._read = read
        self._parts = parts
        self._path = path
        self._is_manifest = is_manifest
        # The API server fills in the host ports of pods that it stores.
        self._has_host_ports = is_manifest and read.host_network

    def spec(self) -> PodSpec:
        read, path = self._read, self._path
        affinity = self._affinity()
        requests, limits = self._parts.requirements(read.resources, f"{path}.resources")
        neighbours = to_neighbours(read, affinity, path=path)
        return PodSpec(
            containers=self._containers(read.containers, "containers"),
            init_containers=self._containers(read.init_containers, "initContainers"),
            overhead=self._parts.quantities(read.overhead, f"{path}.overhead"),
            requests=requests or (),
            limits=limits,
            node_selector=self._node_selector(),
            required_node_terms=_required_terms(affinity.node_affinity),
            tolerations=self._tolerations(),
            scheduler_name=read.scheduler_name or DEFAULT_SCHEDULER,
            priority=read.priority,
            may_preempt=read.preemption_policy != NEVER,
            scheduling_gates=tuple(gate.name for gate in read.scheduling_gates),
            volumes=to_volumes(read.volumes, is_manifest=self._is_manifest),
            required_features=required_features(read),
            neighbours=neighbours,
            device_claims=tuple(map(_device_claim, read.resource_claims)),
            fields=foreign_fields(read, affinity, neighbours.spread, is_manifest=self._is_manifest),
        )

    def _containers(
        self, containers: tuple[schema.Container, ...], field: str
    ) -> tuple[Container, ...]:
        is_init = field == "initContainers"
        return tuple(
            self._container(each, f"{self._path}.{field}[{index}]", is_init=is_init)
            for index, each in enumerate(containers)
        )

    def _container(self, read: schema.Container, path: str, *, is_init: bool) -> Container:
        requests, limits = self._parts.requirements(read.resources, f"{path}.resources")
        return Container(
            name=read.name,
            requests=requests or (),
            limits=limits,
            host_ports=self._host_ports(read, f"{path}.ports"),
            is_sidecar=is_init and read.restart_policy == ALWAYS,
        )

    def _host_ports(self, read: schema.Container, path: str) -> tuple[HostPort, ...]:
        if not is_given(read.ports):
            return ()
        ports = ((self._host_port(port), port) for port in decoded(read.ports, _PORTS, path=path))
        return tuple(
            HostPort(
                port=number,
                host_ip=port.host_ip or HostPort(port=0).host_ip,
                protocol=port.protocol or HostPort(port=0).protocol,
            )
            for number, port in ports
            if number > 0
        )

    def _host_port(self, port: schema.ContainerPort) -> int:
        return port.host_port or (port.container_port if self._has_host_ports else 0)

    def _affinity(self) -> schema.Affinity:
        if not is_given(self._read.affinity):
            return schema.Affinity()
        return decoded(self._read.affinity, _AFFINITY, path=f"{self._path}.affinity")

    def _node_selector(self) -> tuple[tuple[str, str], ...]:
        if not is_given(self._read.node_selector):
            return ()
        selector = decoded(self._read.node_selector, _LABELS, path=f"{self._path}.nodeSelector")
        return tuple(sorted(selector.items()))

    def _tolerations(self) -> tuple[Toleration, ...]:
        if not is_given(self._read.tolerations):
            return ()
        return decoded(self._read.tolerations, _TOLERATIONS, path=f"{self._path}.tolerations")


def _device_claim(read: schema.PodClaim) -> PodClaim:
    return PodClaim(
        name=read.name,
        claim=read.resource_claim_name or "",
        template=read.resource_claim_template_name or "",
    )


def _required_terms(read: schema.NodeAffinity) -> tuple[NodeSelectorTerm, ...] | None:
    required = read.required_during_scheduling_ignored_during_execution
    if required is None:
        return None
    return tuple(
        NodeSelectorTerm(expressions=term.match_expressions, fields=term.match_fields)
        for term in required.node_selector_terms
    )
