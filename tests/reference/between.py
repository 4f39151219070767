"""The rules between pods, one node at a time, as slow and as plain as the rules read.

Everything is worked out anew for every node from lists of pods, with dictionaries of counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from springtide.base.selectors import LabelSelector
from springtide.model.neighbours import AffinityTerm, SpreadConstraint
from springtide.model.node import Node
from springtide.model.pod import Pod

Status = tuple[str, bool, tuple[str, ...]]
Namespaces = Mapping[str, Mapping[str, str]]
Place = tuple[str, str]
"""A label's key and value."""


class World(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster, and what is asked of a node by the rules of single nodes."""

    nodes: Sequence[Node]
    running: Sequence[Pod]
    namespaces: Namespaces
    meets_affinity: Callable[[Pod, Node], bool]
    tolerates: Callable[[Pod, Node], bool]

    def on(self, node: Node) -> list[Pod]:
        """Return the pods on a node."""
        return [pod for pod in self.running if pod.node_name == node.name]


def spread(pod: Pod, node: Node, world: World) -> Status | None:
    """Return why PodTopologySpread refuses the node."""
    hard = [each for each in pod.spec.neighbours.spread if each.is_hard]
    uneven = "node(s) didn't match pod topology spread constraints"
    for constraint in hard:
        value = node.labels.get(constraint.topology_key)
        if value is None:
            return "PodTopologySpread", True, (f"{uneven} (missing required label)",)
        counts = _counts(constraint, hard, pod, world)
        least = min(counts.values(), default=0)
        if len(counts) < constraint.domains_min:
            least = 0
        own = 1 if _selects(constraint, pod, pod) else 0
        if counts.get(value, 0) + own - least > constraint.max_skew:
            return "PodTopologySpread", False, (uneven,)
    return None


def _counts(
    constraint: SpreadConstraint, hard: Sequence[SpreadConstraint], pod: Pod, world: World
) -> dict[str, int]:
    counts: dict[str, int] = {}
    for node in world.nodes:
        if any(each.topology_key not in node.labels for each in hard):
            continue
        if constraint.honors_affinity and not world.meets_affinity(pod, node):
            continue
        if constraint.honors_taints and not world.tolerates(pod, node):
            continue
        value = node.labels[constraint.topology_key]
        counts[value] = counts.get(value, 0) + alike(constraint, pod, world.on(node))
    return counts


def alike(constraint: SpreadConstraint, pod: Pod, others: Iterable[Pod]) -> int:
    """Return how many of the pods a constraint of the pod counts."""
    return sum(
        other.namespace == pod.namespace
        and not other.is_terminating
        and not _is_empty(constraint, pod)
        and _selects(constraint, other, pod)
        for other in others
    )


def _is_empty(constraint: SpreadConstraint, pod: Pod) -> bool:
    """Return whether nothing is asked of counted pods, which counts none instead of all."""
    has_keys = any(key in pod.labels for key in constraint.match_label_keys)
    return constraint.selector == LabelSelector() and not has_keys


def _selects(constraint: SpreadConstraint, other: Pod, pod: Pod) -> bool:
    if constraint.selector is None:
        return False
    same = all(
        other.labels.get(key) == pod.labels[key]
        for key in constraint.match_label_keys
        if key in pod.labels
    )
    return same and matches(constraint.selector, other.labels)


def affinity(pod: Pod, node: Node, world: World) -> Status | None:
    """Return why InterPodAffinity refuses the node."""
    if not _has_all(pod, node, world):
        return "InterPodAffinity", True, ("node(s) didn't match pod affinity rules",)
    for term in pod.spec.neighbours.anti_affinity:
        if _place(term, node) in _places_of(term, [term], pod, world):
            return "InterPodAffinity", False, ("node(s) didn't match pod anti-affinity rules",)
    for other, where in _standing(world):
        for term in other.spec.neighbours.anti_affinity:
            place = _place(term, where)
            objects = is_about(term, other, pod, world.namespaces)
            if objects and place is not None and place == _place(term, node):
                text = "node(s) didn't satisfy existing pods anti-affinity rules"
                return "InterPodAffinity", False, (text,)
    return None


def _has_all(pod: Pod, node: Node, world: World) -> bool:
    terms = pod.spec.neighbours.affinity
    places = [_places_of(term, terms, pod, world) for term in terms]
    if any(_place(term, node) is None for term in terms):
        return False
    if all(_place(term, node) in found for term, found in zip(terms, places, strict=True)):
        return True
    is_first = not any(places)
    return is_first and all(is_about(term, pod, pod, world.namespaces) for term in terms)


def _places_of(
    term: AffinityTerm, terms: Iterable[AffinityTerm], pod: Pod, world: World
) -> set[Place]:
    """Return where pods are that all terms are about, by one term's key."""
    found = set()
    for other, where in _standing(world):
        if all(is_about(each, pod, other, world.namespaces) for each in terms):
            place = _place(term, where)
            if place is not None:
                found.add(place)
    return found


def _standing(world: World) -> Iterable[tuple[Pod, Node]]:
    return ((pod, node) for node in world.nodes for pod in world.on(node))


def _place(term: AffinityTerm, node: Node) -> Place | None:
    value = node.labels.get(term.topology_key)
    return None if value is None else (term.topology_key, value)


def is_about(term: AffinityTerm, owner: Pod, other: Pod, namespaces: Namespaces) -> bool:
    """Return whether a term of the owner means the other pod."""
    named = set(term.namespaces)
    if not named and term.namespace_selector is None:
        named = {owner.namespace}
    is_inside = other.namespace in named or (
        term.namespace_selector is not None
        and (term.namespace_selector == LabelSelector() or other.namespace in namespaces)
        and matches(term.namespace_selector, namespaces.get(other.namespace, {}))
    )
    return is_inside and term.selector is not None and matches(term.selector, other.labels)


def matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Return whether labels meet a selector that is there."""
    for key, value in selector.match_labels:
        if labels.get(key) != value:
            return False
    for each in selector.match_expressions:
        value_here = labels.get(each.key)
        holds = {
            "In": value_here is not None and value_here in each.values,
            "NotIn": value_here not in each.values,
            "Exists": value_here is not None,
            "DoesNotExist": value_here is None,
        }[each.operator]
        if not holds:
            return False
    return True
