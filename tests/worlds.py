"""Large clusters from a seed: nodes, pods that run, pods to ask about, and storage.

Pods come in kinds, as replicas do; each kind asks a few things of many that can be asked, so that
all rules have something to say and none has always the last word.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from springtide.base import quantity
from springtide.base.selectors import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    label_selector,
)
from springtide.base.taints import Taint, Toleration
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Container, HostPort, Pod, PodSpec
from springtide.model.storage import (
    READ_WRITE_ONCE_POD,
    WAIT_FOR_FIRST_CONSUMER,
    Claim,
    CsiNode,
    PersistentVolume,
    Storage,
    StorageClass,
)
from springtide.model.volumes import ClaimVolume, DiskKind, DiskVolume, Volume
from tests.builders import resources
from tests.reference import volumes

ZONE: Final = "topology.kubernetes.io/zone"
GPU: Final = "example.com/gpu"
SOLE: Final = "sole"
DRIVER: Final = "csi.example.com"
KEYS: Final = frozenset({"app", "tier", "ver"})
NAMESPACES: Final[Mapping[str, Mapping[str, str]]] = {
    "default": {},
    "team-a": {"kind": "team"},
    "team-b": {"kind": "team", "level": "gold"},
}
TAINTS: Final = (
    Taint(key="dedicated", value="a"),
    Taint(key="dedicated", value="b", effect="NoExecute"),
    Taint(key="spot", effect="PreferNoSchedule"),
)
KINDS: Final = 40
PRESENT: Final = 27


class World:
    """One cluster, and an endless supply of further nodes and replicas for it."""

    def __init__(self, seed: int, *, nodes: int, running: int) -> None:
        self._rng = random.Random(seed)
        self._count = 0
        self.nodes = [self.another_node() for _ in range(nodes)]
        self.storage = _storage(self._rng, self.nodes)
        self.pending = [_kind(self._rng, f"kind-{index}") for index in range(KINDS)]
        self.pending.append(_only_one())
        present, self.absent = self.pending[:PRESENT], self.pending[PRESENT:]
        """Of the absent kinds no pod runs yet, so that the first one makes a difference."""
        self.running = [
            replace(self.replica(self._rng.choice(present)), node_name=each.name)
            for each in self._rng.choices(self.nodes, k=running)
        ]
        for index in self._rng.sample(range(running), running // 50):
            self.running[index] = replace(self.running[index], is_terminating=True)

    def another_node(self) -> Node:
        """Return a further node."""
        self._count += 1
        return _node(self._rng, f"node-{self._count:04d}")

    def replica(self, pod: Pod) -> Pod:
        """Return a further pod of the kind."""
        self._count += 1
        name = f"{pod.name}-{self._count}"
        return replace(pod, name=name, uid=name)

    def unrejected(self) -> Iterator[Pod]:
        """Yield the pods whose claims are in order."""
        return (each for each in self.pending if volumes.rejection(each, self.storage) is None)


def world(seed: int, *, nodes: int, running: int) -> World:
    """Return the cluster of this seed."""
    return World(seed, nodes=nodes, running=running)


def _node(rng: random.Random, name: str) -> Node:
    labels = {
        HOSTNAME_LABEL: name if rng.random() < 0.95 else "",
        ZONE: rng.choice(("z1", "z2", "z3", "z4", "")),
        "rack": f"r{rng.randrange(30)}" if rng.random() < 0.8 else "",
        "pool": rng.choice(("cpu", "gpu", "")),
        "rank": str(rng.randrange(12)),
    }
    allocatable = {
        "cpu": rng.choice(("8", "16", "500m")),
        "memory": rng.choice(("32Gi", "64Gi")),
        "pods": rng.choice((8, 30, 30)),
        GPU: rng.choice((0, 4)),
    }
    return Node(
        name=name,
        labels={key: value for key, value in labels.items() if value},
        taints=(rng.choice(TAINTS),) if rng.random() < 0.3 else (),
        is_unschedulable=rng.random() < 0.05,
        allocatable=resources(allocatable),
    )


def _kind(rng: random.Random, name: str) -> Pod:
    labels = {"app": f"a{rng.randrange(8)}", "tier": rng.choice("xyz"), "ver": rng.choice("12")}
    requests = {
        "cpu": rng.choice(("100m", "500m", "1", "4")),
        "memory": rng.choice(("64Mi", "1Gi", "8Gi")),
        GPU: rng.choice((0, 0, 0, 1)),
    }
    ports = (HostPort(port=rng.choice((80, 81))),) if rng.random() < 0.1 else ()
    main = Container(name="main", requests=resources(requests), host_ports=ports)
    spec = PodSpec(
        containers=(main,),
        node_selector=(("pool", rng.choice(("cpu", "gpu"))),) if rng.random() < 0.2 else (),
        required_node_terms=_node_terms(rng) if rng.random() < 0.3 else None,
        tolerations=_tolerations(rng),
        volumes=_volumes(rng),
        neighbours=_neighbours(rng, labels),
    )
    namespace = rng.choice(("default", "default", "team-a", "team-b", "unknown"))
    return Pod(namespace=namespace, name=name, uid=name, spec=spec, labels=labels)


def _only_one() -> Pod:
    """Return a pod that goes anywhere, if no other pod uses its claim."""
    spec = PodSpec(volumes=(ClaimVolume(SOLE),), tolerations=(Toleration(operator="Exists"),))
    return Pod(namespace="default", name=SOLE, uid=SOLE, spec=spec)


def _node_terms(rng: random.Random) -> tuple[NodeSelectorTerm, ...]:
    expressions = (
        NodeSelectorRequirement(key=ZONE, operator="In", values=("z1", "z2", "z3")),
        NodeSelectorRequirement(key=ZONE, operator="NotIn", values=("z4",)),
        NodeSelectorRequirement(key="rank", operator="Gt", values=("5",)),
        NodeSelectorRequirement(key="rack", operator="Exists"),
    )
    count = rng.choice((1, 1, 2))
    terms = [NodeSelectorTerm(expressions=(each,)) for each in rng.sample(expressions, count)]
    if rng.random() < 0.3:
        name = f"node-{rng.randrange(1, 100):04d}"
        field = NodeSelectorRequirement(key="metadata.name", operator="In", values=(name,))
        # Beside other terms, such a one restricts nothing; alone, the pod is for that node only.
        terms = [NodeSelectorTerm(fields=(field,)), *terms[1:]]
    return tuple(terms)


def _tolerations(rng: random.Random) -> tuple[Toleration, ...]:
    return rng.choice(
        (
            (),
            (Toleration(key="dedicated", operator="Exists"),),
            (Toleration(key="dedicated", value="a"),),
            (Toleration(operator="Exists"),),
        )
    )


def _selector(rng: random.Random, labels: Mapping[str, str]) -> LabelSelector | None:
    expression = LabelSelectorRequirement(key="app", operator="In", values=("a1", "a2", "a3"))
    absent = LabelSelectorRequirement(key="tier", operator="NotIn", values=("x",))
    return rng.choice(
        (
            label_selector({"app": labels["app"]}),
            label_selector({"app": labels["app"]}),
            label_selector({"tier": "y"}, [absent]),
            label_selector({}, [expression]),
            label_selector({}),
            None,
        )
    )


def _neighbours(rng: random.Random, labels: Mapping[str, str]) -> Neighbours:
    draw = rng.random()
    return Neighbours(
        spread=_spread(rng, labels) if draw < 0.4 else (),
        affinity=_terms(rng, labels) if 0.35 < draw < 0.6 else (),
        anti_affinity=_terms(rng, labels) if 0.55 < draw < 0.75 else (),
    )


def _spread(rng: random.Random, labels: Mapping[str, str]) -> tuple[SpreadConstraint, ...]:
    return tuple(
        SpreadConstraint(
            max_skew=rng.choice((1, 3, 20)),
            topology_key=key,
            is_hard=rng.random() < 0.8,
            selector=_selector(rng, labels),
            domains_min=rng.choice((1, 1, 5)),
            honors_affinity=rng.random() < 0.7,
            honors_taints=rng.random() < 0.3,
            match_label_keys=rng.choice(((), (), ("ver",))),
        )
        for key in rng.sample((ZONE, "rack", HOSTNAME_LABEL), rng.choice((1, 1, 2)))
    )


def _terms(rng: random.Random, labels: Mapping[str, str]) -> tuple[AffinityTerm, ...]:
    return tuple(
        AffinityTerm(
            topology_key=key,
            selector=_selector(rng, labels),
            namespaces=rng.choice(((), (), ("team-a",), ("default", "unknown"))),
            namespace_selector=rng.choice(
                (None, None, None, label_selector({}), label_selector({"kind": "team"}))
            ),
        )
        for key in rng.sample((ZONE, "rack", HOSTNAME_LABEL), rng.choice((1, 1, 2)))
    )


def _volumes(rng: random.Random) -> tuple[Volume, ...]:
    if rng.random() < 0.6:
        return ()
    disk = DiskVolume(
        kind=rng.choice((DiskKind.GCE, DiskKind.RBD)),
        name=rng.choice("ab"),
        monitors=("m",),
        is_read_only=rng.random() < 0.5,
    )
    first, second = (ClaimVolume(f"claim-{index}") for index in rng.sample(range(15), 2))
    choices: Sequence[tuple[Volume, ...]] = (
        (disk,),
        (first,),
        (first, second),
        (disk, first, second),
    )
    return rng.choice(choices)


def _storage(rng: random.Random, nodes: Sequence[Node]) -> Storage:
    bound = {f"volume-{index}": _volume(rng, f"volume-{index}") for index in range(15)}
    free = {f"free-{index}": _volume(rng, f"free-{index}") for index in range(6)}
    claims = [
        _claim(rng, namespace, index)
        for namespace in ("default", "team-a", "team-b")
        for index in range(14)
    ]
    claims.append(
        replace(_claim(rng, "default", 0), name=SOLE, access_modes=(READ_WRITE_ONCE_POD,))
    )
    limits = {name: CsiNode(name, ((DRIVER, rng.choice((1, 3, None))),)) for name in _some(nodes)}
    return Storage(
        claims={each.key: each for each in claims},
        volumes=bound | free,
        classes={
            "late": StorageClass(
                name="late",
                provisioner=DRIVER,
                binding_mode=WAIT_FOR_FIRST_CONSUMER,
                topologies=(((ZONE, ("z1", "z2")),),),
            )
        },
        csi_nodes=limits,
        attached={nodes[0].name: ("volume-1", "volume-2")},
    )


def _some(nodes: Sequence[Node]) -> Iterator[str]:
    return (node.name for node in nodes[::3])


def _claim(rng: random.Random, namespace: str, index: int) -> Claim:
    is_bound = index < 11
    mode = "ReadWriteOncePod" if rng.random() < 0.2 else "ReadWriteOnce"
    return Claim(
        namespace=namespace,
        name=f"claim-{index}",
        uid=f"{namespace}-{index}",
        class_name="late",
        volume=f"volume-{index}" if is_bound else "",
        is_bound=is_bound,
        access_modes=(mode,),
        requested=quantity.parse(rng.choice(("1Gi", "5Gi"))),
    )


def _volume(rng: random.Random, name: str) -> PersistentVolume:
    is_free = name.startswith("free")
    expression = NodeSelectorRequirement(key=ZONE, operator="In", values=("z1", "z2"))
    terms = (NodeSelectorTerm(expressions=(expression,)),)
    return PersistentVolume(
        name=name,
        labels={ZONE: rng.choice(("z1", "z2__z3"))} if rng.random() < 0.4 else {},
        class_name="late" if is_free else "",
        capacity=quantity.parse(rng.choice(("2Gi", "10Gi"))),
        access_modes=("ReadWriteOnce",),
        phase="Available" if is_free else "Bound",
        node_terms=terms if rng.random() < 0.6 else None,
        driver=DRIVER,
        handle=name,
    )
