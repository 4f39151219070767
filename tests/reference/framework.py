"""The filter rules of the framework, one node at a time, as slow and as plain as the rules read.

This is what the columnar rules are compared with. It shares no code with them: sums are fractions,
labels are compared as they are, and everything is worked out anew for every node.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil

from springtide.base.names import is_extended_resource, is_scalar_resource
from springtide.base.quantity import NANO
from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm, term_faults
from springtide.base.taints import Taint, Toleration
from springtide.engine.framework.framework import FrameworkConfig
from springtide.model.node import Node
from springtide.model.pod import Container, HostPort, Pod, PodSpec
from springtide.model.resources import Resources
from springtide.model.storage import Storage
from tests.reference import between, volumes

Status = tuple[str, bool, tuple[str, ...]]
"""Plugin, whether eviction could not help, reasons."""

NO_NODE = "node(s) didn't satisfy plugin(s)"
NATIVE = ("cpu", "memory", "ephemeral-storage")


def verdicts(
    pod: Pod,
    nodes: Sequence[Node],
    running: Sequence[Pod],
    config: FrameworkConfig,
    *,
    namespaces: between.Namespaces | None = None,
    storage: Storage | None = None,
) -> dict[str, Status | None]:
    """Return for each node the first refusal in official order, None if it takes the pod."""
    allowed, outside = _allowed(pod)
    if allowed is not None and not allowed:
        return {node.name: outside for node in nodes}
    rejection = None if storage is None else volumes.rejection(pod, storage)
    if rejection is not None:
        return {node.name: rejection for node in nodes}
    world = _world(nodes, running, namespaces)
    return {
        node.name: _first(each_rule(pod, node, world, config, storage), config)
        if allowed is None or node.name in allowed
        else outside
        for node in nodes
    }


def alone(
    pod: Pod,
    nodes: Sequence[Node],
    running: Sequence[Pod],
    config: FrameworkConfig,
    *,
    namespaces: between.Namespaces | None = None,
    storage: Storage | None = None,
) -> dict[str, list[Status | None]]:
    """Return for each rule what it says alone, node by node; the pod must not be rejected."""
    world = _world(nodes, running, namespaces)
    found: dict[str, list[Status | None]] = {}
    for node in nodes:
        for rule, status in each_rule(pod, node, world, config, storage).items():
            found.setdefault(rule, []).append(status)
    return found


def _world(
    nodes: Sequence[Node], running: Sequence[Pod], namespaces: between.Namespaces | None
) -> between.World:
    return between.World(
        nodes,
        running,
        namespaces or {},
        meets_affinity=meets_affinity,
        tolerates=is_tolerated,
    )


def _allowed(pod: Pod) -> tuple[set[str] | None, Status]:
    """Return the nodes that PreFilter leaves, and what the others are told."""
    sets: dict[str, set[str]] = {}
    if pod.node_name:
        sets["NodeName"] = {pod.node_name}
    named = _named_nodes(pod.spec.required_node_terms or ())
    if named is not None and not named:
        return set(), ("NodeAffinity", True, ("pod affinity terms conflict",))
    if named is not None:
        sets["NodeAffinity"] = named
    if not sets:
        return None, ("", True, ())
    left = set.intersection(*sets.values())
    told = f"{NO_NODE} [{' '.join(sorted(sets))}]"
    if not left:
        told += " simultaneously"
    return left, ("", True, (told,))


def _named_nodes(terms: Sequence[NodeSelectorTerm]) -> set[str] | None:
    union: set[str] = set()
    for term in terms:
        names: set[str] | None = None
        for field in term.fields:
            if field.key == "metadata.name" and field.operator == "In":
                names = set(field.values) if names is None else names & set(field.values)
        if names is None:
            return None
        union |= names
    return union if terms else None


def each_rule(
    pod: Pod, node: Node, world: between.World, config: FrameworkConfig, storage: Storage | None
) -> dict[str, Status | None]:
    """Return what each rule says of one node, in official order."""
    running = world.on(node)
    return {
        "NodeName": _node_name(pod, node),
        "NodeUnschedulable": _node_unschedulable(pod.spec, node),
        "TaintToleration": _taint_toleration(pod.spec, node),
        "NodeAffinity": _node_affinity(pod.spec, node, config),
        "NodePorts": _node_ports(pod.spec, running),
        "NodeResourcesFit": _node_resources_fit(pod.spec, node, running, config),
        **(_volume_rules(pod, node, world, storage) if storage is not None else {}),
        "PodTopologySpread": between.spread(pod, node, world),
        "InterPodAffinity": between.affinity(pod, node, world),
    }


def _volume_rules(
    pod: Pod, node: Node, world: between.World, storage: Storage
) -> dict[str, Status | None]:
    keys = {key for key, _ in volumes.claim_keys(pod)}
    users = world.once("users", lambda: volumes.using_any(keys, world.running))
    here = world.on(node)
    found = {
        "VolumeRestrictions": (False, volumes.restrictions(pod, node, [*here, *users], storage)),
        "NodeVolumeLimits": (False, volumes.limits(pod, node, here, storage)),
        "VolumeBinding": (True, volumes.binding(pod, node, storage)),
        "VolumeZone": (True, volumes.zone(pod, node, storage)),
    }
    return {
        rule: (rule, is_final, reasons) if reasons else None
        for rule, (is_final, reasons) in found.items()
    }


def _first(statuses: Mapping[str, Status | None], config: FrameworkConfig) -> Status | None:
    judging = (status for rule, status in statuses.items() if rule not in config.disabled)
    return next((status for status in judging if status is not None), None)


def _node_name(pod: Pod, node: Node) -> Status | None:
    if pod.node_name in {"", node.name}:
        return None
    return "NodeName", True, ("node(s) didn't match the requested node name",)


def _node_unschedulable(spec: PodSpec, node: Node) -> Status | None:
    cordon = Taint(key="node.kubernetes.io/unschedulable", value="", effect="NoSchedule")
    if not node.is_unschedulable or any(tolerates(each, cordon) for each in spec.tolerations):
        return None
    return "NodeUnschedulable", True, ("node(s) were unschedulable",)


def _taint_toleration(spec: PodSpec, node: Node) -> Status | None:
    for taint in node.taints:
        if taint.effect in {"NoSchedule", "NoExecute"} and not any(
            tolerates(each, taint) for each in spec.tolerations
        ):
            return "TaintToleration", True, ("node(s) had untolerated taint(s)",)
    return None


def is_tolerated(pod: Pod, node: Node) -> bool:
    """Return whether no taint of the node keeps the pod away."""
    return _taint_toleration(pod.spec, node) is None


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Return whether a toleration covers a taint."""
    if toleration.effect not in {"", taint.effect} or toleration.key not in {"", taint.key}:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in {"", "Equal"} and toleration.value == taint.value


def _node_affinity(spec: PodSpec, node: Node, config: FrameworkConfig) -> Status | None:
    added, required = config.added_node_terms, spec.required_node_terms
    if added is not None and not any(meets_term(term, node) for term in added):
        return "NodeAffinity", True, ("node(s) didn't match scheduler-enforced node affinity",)
    selected = all(node.labels.get(key) == value for key, value in spec.node_selector)
    if selected and (required is None or any(meets_term(term, node) for term in required)):
        return None
    return "NodeAffinity", True, ("node(s) didn't match Pod's node affinity/selector",)


def meets_affinity(pod: Pod, node: Node) -> bool:
    """Return whether the node meets the pod's selector and required terms."""
    return _node_affinity(pod.spec, node, FrameworkConfig()) is None


def meets_term(term: NodeSelectorTerm, node: Node) -> bool:
    """Return whether a node meets a term that makes sense."""
    if term_faults(term, path="") or not (term.expressions or term.fields):
        return False
    fields = {"metadata.name": node.name}
    return all(_expression(each, node.labels) for each in term.expressions) and all(
        (fields.get(each.key, "") == each.values[0]) == (each.operator == "In")
        for each in term.fields
    )


def _expression(each: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(each.key)
    match each.operator:
        case "In":
            return value in each.values
        case "NotIn":
            return value not in each.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return value is not None and _compares(value, each)


def _compares(value: str, each: NodeSelectorRequirement) -> bool:
    if not value.lstrip("-").isdigit():
        return False
    bound = int(each.values[0])
    return int(value) > bound if each.operator == "Gt" else int(value) < bound


def _node_ports(spec: PodSpec, running: Iterable[Pod]) -> Status | None:
    used = [port for pod in running for port in _ports(pod.spec)]
    if any(_collide(port, other) for port in _ports(spec) for other in used):
        return "NodePorts", False, ("node(s) didn't have free ports for the requested pod ports",)
    return None


def _ports(spec: PodSpec) -> list[HostPort]:
    keeping = [*spec.containers, *(each for each in spec.init_containers if each.is_sidecar)]
    return [port for each in keeping for port in each.host_ports if port.port > 0]


def _collide(port: HostPort, other: HostPort) -> bool:
    if (port.port, port.protocol or "TCP") != (other.port, other.protocol or "TCP"):
        return False
    addresses = {port.host_ip or "0.0.0.0", other.host_ip or "0.0.0.0"}
    return len(addresses) == 1 or "0.0.0.0" in addresses


def _node_resources_fit(
    spec: PodSpec, node: Node, running: Sequence[Pod], config: FrameworkConfig
) -> Status | None:
    have = _units(_sum([node.allocatable]))
    reasons, is_final = [], False
    if len(running) + 1 > have.get("pods", 0):
        reasons.append("Too many pods")
    used = [_units_of(pod.spec) for pod in running]
    wanted = _units_of(spec)
    for name in (*NATIVE, *sorted(set(wanted) - set(NATIVE))):
        ask = wanted.get(name, 0)
        free = have.get(name, 0) - sum(each.get(name, 0) for each in used)
        if ask > 0 and ask > free and _counts(name, config):
            reasons.append(f"Insufficient {name}")
            is_final |= ask > have.get(name, 0)
    return ("NodeResourcesFit", is_final, tuple(reasons)) if reasons else None


@lru_cache
def _units_of(spec: PodSpec) -> dict[str, int]:
    return _units(requests(spec))


def _counts(name: str, config: FrameworkConfig) -> bool:
    if name in NATIVE:
        return True
    group = name.split("/", maxsplit=1)[0]
    is_ignored = name in config.ignored_resources or group in config.ignored_groups
    return is_scalar_resource(name) and not (is_ignored and is_extended_resource(name))


def requests(spec: PodSpec) -> dict[str, Fraction]:
    """Return exactly what an incoming pod asks."""
    total = _sum(each.requests for each in (*spec.containers, *_sidecars(spec.init_containers)))
    for index, each in enumerate(spec.init_containers):
        started = _sidecars(spec.init_containers[:index])
        during = _sum([each.requests, *(other.requests for other in started)])
        for name, amount in during.items():
            total[name] = max(total.get(name, amount), amount)
    for name, amount in _sum([spec.requests]).items():
        if name in {"cpu", "memory"} or name.startswith("hugepages-"):
            total[name] = amount
    for name, amount in _sum([spec.overhead]).items():
        total[name] = total.get(name, Fraction(0)) + amount
    return total


def _sidecars(containers: Iterable[Container]) -> list[Container]:
    return [each for each in containers if each.is_sidecar]


def _sum(lists: Iterable[Resources]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for each in lists:
        for name, quantity in each:
            total[name] = total.get(name, Fraction(0)) + Fraction(quantity.nano, NANO)
    return total


def _units(exact: Mapping[str, Fraction]) -> dict[str, int]:
    return {name: ceil(each * 1000 if name == "cpu" else each) for name, each in exact.items()}
