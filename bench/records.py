"""Nodes and pods for benchmarks, as records: of kube-scheduler's own benchmark, 4 cores and 32 GiB."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from springtide.base.quantity import parse
from springtide.base.selectors import NodeSelectorTerm
from springtide.engine.placement.classes import standing_holding
from springtide.model.ledger import Ledger
from springtide.model.neighbours import ALONE, Neighbours
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.presence import standing

ZONE = "topology.kubernetes.io/zone"
NODES = 5_000


def nodes(
    count: int = NODES, *, zones: Sequence[str] = (), others: Mapping[str, str] | None = None
) -> list[Node]:
    """Return equal nodes, in these zones in turn."""
    amounts = {"cpu": "4", "memory": "32Gi", "pods": "110", **(others or {})}
    allocatable = tuple((name, parse(text)) for name, text in sorted(amounts.items()))
    return [
        Node(
            name=f"node-{index}",
            labels={HOSTNAME_LABEL: f"node-{index}"}
            | ({ZONE: zones[index % len(zones)]} if zones else {}),
            allocatable=allocatable,
        )
        for index in range(count)
    ]


def spec(
    *,
    requests: Mapping[str, str] | None = None,
    terms: tuple[NodeSelectorTerm, ...] | None = None,
    neighbours: Neighbours = ALONE,
) -> PodSpec:
    """Return the spec of a small pod."""
    asked = {"cpu": "100m", "memory": "500Mi"} if requests is None else requests
    pairs = tuple((name, parse(text)) for name, text in asked.items())
    return PodSpec(
        containers=(Container(name="pause", requests=pairs),),
        required_node_terms=terms,
        neighbours=neighbours,
    )


def pods(
    count: int,
    asking: PodSpec | None = None,
    *,
    name: str = "there",
    labels: Mapping[str, str] | None = None,
    namespace: str = "default",
) -> list[Pod]:
    """Return pods that are equal but for their names."""
    first = Pod(
        namespace=namespace, name=name, uid=name, spec=asking or spec(), labels=labels or {}
    )
    return [replace(first, name=f"{name}-{n}", uid=f"{name}-{n}") for n in range(count)]


def one_a_node(pending: Iterable[Pod], count: int = NODES) -> list[Pod]:
    """Return the pods on the nodes in turn, as scores would have it."""
    return [replace(pod, node_name=f"node-{n % count}") for n, pod in enumerate(pending)]


def ledger(
    there: Sequence[Node],
    running: Iterable[Pod],
    keys: frozenset[str] | None,
    namespaces: Mapping[str, Mapping[str, str]],
) -> Ledger:
    """Return a ledger of these nodes and pods; `keys` are the labels that rules between pods read."""
    made = Ledger()
    made.namespaces = namespaces
    for node in there:
        made.add_node(node)
    made.hold_all(
        [
            standing_holding(
                pod,
                made.rows[pod.node_name],
                presence=None if keys is None else standing(pod, keys),
            )
            for pod in running
        ]
    )
    return made
