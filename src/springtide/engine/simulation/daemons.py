"""The DaemonSet pods that a node runs as soon as it is there.

A DaemonSet runs on a node that its pod's node selector, required node affinity and tolerations
accept (its controller adds tolerations for node conditions). DaemonSets come from the input, or,
where the input has only their pods, from those pods with the node that each was bound to removed.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorTerm, term_matches
from springtide.base.taints import Toleration, first_untolerated
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.workload import DaemonSet

_CONDITION_TOLERATIONS = tuple(
    Toleration(key=f"node.kubernetes.io/{condition}", operator="Exists")
    for condition in (
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
        "network-unavailable",
    )
)


def daemon_sets(objects: Iterable[DaemonSet], pods: Iterable[Pod]) -> tuple[DaemonSet, ...]:
    """Return every DaemonSet, from the objects and from the pods of those that are missing."""
    found = {(item.namespace, item.name): item for item in objects}
    for pod in pods:
        if pod.owner is None or pod.owner.kind != "DaemonSet" or pod.is_finished:
            continue
        key = (pod.namespace, pod.owner.name)
        if key not in found:
            found[key] = DaemonSet(
                namespace=pod.namespace,
                name=pod.owner.name,
                uid=pod.owner.uid,
                spec=_unbound(pod.spec),
                labels=pod.labels,
            )
    return tuple(found.values())


def runs_on(daemon: DaemonSet, node: Node) -> bool:
    """Return whether the DaemonSet controller would start a pod on this node."""
    spec = daemon.spec
    if any(node.labels.get(key) != value for key, value in spec.node_selector):
        return False
    terms = spec.required_node_terms
    if terms is not None and not any(
        term_matches(term, node.labels, name=node.name) for term in terms
    ):
        return False
    tolerations = spec.tolerations + _CONDITION_TOLERATIONS
    return first_untolerated(node.taints, tolerations) is None


def expected(daemons: Sequence[DaemonSet], node: Node, present: Sequence[Pod]) -> tuple[Pod, ...]:
    """Return a pod for each DaemonSet that runs on the node and is not among the present pods."""
    owners = {
        (pod.namespace, pod.owner.name)
        for pod in present
        if pod.owner is not None and pod.owner.kind == "DaemonSet"
    }
    return tuple(
        Pod(
            namespace=daemon.namespace,
            name=f"{daemon.name}-on-{node.name}",
            uid=f"{daemon.namespace}/{daemon.name}-on-{node.name}",
            spec=daemon.spec,
            labels=daemon.labels,
        )
        for daemon in daemons
        if (daemon.namespace, daemon.name) not in owners and runs_on(daemon, node)
    )


def _unbound(spec: PodSpec) -> PodSpec:
    terms = spec.required_node_terms
    if terms is None:
        return spec
    freed = tuple(_without_name(term) for term in terms)
    empty = any(not term.expressions and not term.fields for term in freed)
    return replace(spec, required_node_terms=None if empty else freed)


def _without_name(term: NodeSelectorTerm) -> NodeSelectorTerm:
    fields = tuple(field for field in term.fields if field.key != "metadata.name")
    return replace(term, fields=fields)
