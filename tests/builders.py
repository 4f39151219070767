"""Records for tests. Every builder takes only what a test is about, and makes up the rest."""

from collections.abc import Mapping, Sequence

from springtide.base import quantity
from springtide.base.selectors import (
    NodeSelectorRequirement,
    NodeSelectorTerm,
    label_selector,
)
from springtide.base.taints import Taint, Toleration
from springtide.model.device import Device, MigPlacement, MigProfile
from springtide.model.group import NodeGroup
from springtide.model.neighbours import ALONE, AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import Node
from springtide.model.pod import Container, HostPort, Owner, Pod, PodSpec
from springtide.model.resources import Resources
from springtide.wire.hami import register

REGISTRATION = "hami.io/node-nvidia-register"
Amount = str | int


def resources(amounts: Mapping[str, Amount]) -> Resources:
    """Return named quantities, zero ones left out."""
    pairs = ((name, quantity.parse(str(amount))) for name, amount in sorted(amounts.items()))
    return tuple(pair for pair in pairs if pair[1].nano)


def node(
    name: str = "node",
    *,
    cpu: Amount = 8,
    memory: Amount = "64Gi",
    pods: int = 110,
    others: Mapping[str, Amount] | None = None,
    cards: Sequence[Device] = (),
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: Sequence[Taint] = (),
    provider_id: str = "",
    is_ready: bool = True,
    is_unschedulable: bool = False,
) -> Node:
    """Return a node; its cards are registered in its annotation, as their plugin does it."""
    amounts = resources({"cpu": cpu, "memory": memory, "pods": pods, **(others or {})})
    notes = dict(annotations or {})
    if cards:
        notes[REGISTRATION] = register.encode(cards)
    return Node(
        name=name,
        labels=dict(labels or {}),
        annotations=notes,
        taints=tuple(taints),
        is_unschedulable=is_unschedulable,
        provider_id=provider_id,
        capacity=amounts,
        allocatable=amounts,
        conditions={"Ready": "True" if is_ready else "False"},
    )


def card(
    device_id: str = "GPU-0",
    *,
    memory: int = 24576,
    cores: int = 100,
    slots: int = 10,
    model: str = "NVIDIA-A10",
    numa: int = 0,
    is_healthy: bool = True,
) -> Device:
    """Return a card that is shared by memory, cores and slots."""
    return Device(
        id=device_id,
        slots=slots,
        memory_mib=memory,
        cores=cores,
        type=model,
        numa=numa,
        mode="hami-core",
        is_healthy=is_healthy,
    )


def cards(count: int, *, memory: int = 24576) -> tuple[Device, ...]:
    """Return equal cards."""
    return tuple(card(f"GPU-{position}", memory=memory) for position in range(count))


def mig_card(device_id: str = "GPU-0") -> Device:
    """Return a card in MIG mode: seven small instances, or up to two halves."""
    small = tuple(MigPlacement(start, 1) for start in range(7))
    halves = (MigPlacement(0, 4), MigPlacement(4, 4))
    return Device(
        id=device_id,
        slots=7,
        memory_mib=40960,
        cores=100,
        type="NVIDIA-A100",
        mode="mig",
        is_healthy=True,
        mig_profiles=(
            MigProfile(name="1g.5gb", memory_mib=5120, cores=14, slices=1, placements=small),
            MigProfile(name="3g.20gb", memory_mib=20480, cores=42, slices=4, placements=halves),
        ),
    )


def pod(
    name: str = "pod",
    *,
    cpu: Amount = 0,
    memory: Amount = 0,
    gpu: int = 0,
    gpumem: int = 0,
    gpucores: int = 0,
    others: Mapping[str, Amount] | None = None,
    ports: Sequence[int] = (),
    selector: Mapping[str, str] | None = None,
    terms: tuple[NodeSelectorTerm, ...] | None = None,
    tolerations: Sequence[Toleration] = (),
    priority: int = 0,
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    neighbours: Neighbours = ALONE,
    daemon_of: str = "",
    on: str = "",
) -> Pod:
    """Return a pod with one container; cards are asked as limits that are requests too."""
    asked = resources(
        {
            "cpu": cpu,
            "memory": memory,
            "nvidia.com/gpu": gpu,
            "nvidia.com/gpumem": gpumem,
            "nvidia.com/gpucores": gpucores,
            **(others or {}),
        }
    )
    limits = tuple(pair for pair in asked if "/" in pair[0])
    container = Container(
        name="main",
        requests=asked,
        limits=limits,
        host_ports=tuple(HostPort(port=port) for port in ports),
    )
    return Pod(
        namespace="default",
        name=name,
        uid=f"default/{name}",
        spec=PodSpec(
            containers=(container,),
            node_selector=tuple(sorted((selector or {}).items())),
            required_node_terms=terms,
            tolerations=tuple(tolerations),
            priority=priority,
            neighbours=neighbours,
        ),
        labels=dict(labels or {}),
        annotations=dict(annotations or {}),
        owner=Owner(kind="DaemonSet", name=daemon_of, uid=daemon_of) if daemon_of else None,
        node_name=on,
    )


def replicas(count: int, first: Pod) -> tuple[Pod, ...]:
    """Return pods that are equal but for their names."""
    return tuple(
        Pod(
            namespace=first.namespace,
            name=f"{first.name}-{index}",
            uid=f"{first.uid}-{index}",
            spec=first.spec,
            labels=first.labels,
            annotations=first.annotations,
        )
        for index in range(count)
    )


def term(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    """Return a node selector term with one expression, such as `("zone", "In", "a", "b")`."""
    expression = NodeSelectorRequirement(key=key, operator=operator, values=values)
    return NodeSelectorTerm(expressions=(expression,))


def spread(
    key: str,
    *,
    skew: int = 1,
    app: str = "a",
    domains_min: int = 1,
    honors_affinity: bool = True,
    honors_taints: bool = False,
) -> Neighbours:
    """Return a hard spread of the pods of an app over the domains of a label."""
    constraint = SpreadConstraint(
        max_skew=skew,
        topology_key=key,
        selector=label_selector({"app": app}),
        domains_min=domains_min,
        honors_affinity=honors_affinity,
        honors_taints=honors_taints,
    )
    return Neighbours(spread=(constraint,))


def near(key: str, app: str) -> Neighbours:
    """Return an affinity to the pods of an app in the same domain of a label."""
    return Neighbours(affinity=(_term_for(key, app),))


def away(key: str, app: str) -> Neighbours:
    """Return an anti-affinity to the pods of an app in the same domain of a label."""
    return Neighbours(anti_affinity=(_term_for(key, app),))


def _term_for(key: str, app: str) -> AffinityTerm:
    return AffinityTerm(topology_key=key, selector=label_selector({"app": app}))


def group(
    name: str = "group",
    *,
    max_size: int = 10,
    template: Node | None = None,
    size: int | None = None,
    price: float | None = None,
    priority: int = 0,
    homogeneity: str = "",
    profile: str = "",
    ignored_taints: Sequence[str] = (),
) -> NodeGroup:
    """Return a node group whose nodes are told by their provider ids, `<name>-…`."""
    return NodeGroup(
        name=name,
        provider_id_pattern=f"{name}-.*",
        max_size=max_size,
        size=size,
        price=price,
        priority=priority,
        template=template,
        homogeneity=homogeneity,
        profile=profile,
        ignored_taints=tuple(ignored_taints),
    )
