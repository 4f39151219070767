"""The rules between pods, one node at a time, as slow and as plain as the rules read.

Everything is worked out anew for every node from lists of pods, with dictionaries of counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from springtide.base.selectors import LabelSelector
from springtide.model.neighbours import AffinityTerm, SpreadConstraint
from springtide.model.node import Node
from springtide.model.pod import Pod

Status = tuple[str, bool, tuple[str, ...]]
Namespaces = Mapping[str, Mapping[str, str]]
Place = tuple[str, str]
"""A label's key and value."""
MadeT = TypeVar("MadeT")


class World:
    """The cluster as one pod finds it; what is asked of single nodes is given as functions.

    What does not depend on the node that is judged is worked out once (`once`).
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        running: Sequence[Pod],
        namespaces: Namespaces,
        *,
        meets_affinity: Callable[[Pod, Node], bool],
        tolerates: Callable[[Pod, Node], bool],
    ) -> None:
        self.nodes = nodes
        self.running = running
        self.namespaces = namespaces
        self.meets_affinity = meets_affinity
        self.tolerates = tolerates
        self._on: dict[str, list[Pod]] = {}
        for each in running:
            self._on.setdefault(each.node_name, []).append(each)
        self._made: dict[object, object] = {}

    def on(self, node: Node) -> list[Pod]:
        """Return the pods on a node."""
        return self._on.get(node.name, [])

    def once(self, key: object, make: Callable[[], MadeT]) -> MadeT:
        """Return what was made under this key, now if it is the first time."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]  # type: ignore[return-value]  # made under the same key


def spread(pod: Pod, node: Node, world: World) -> Status | None:
    """Return why PodTopologySpread refuses the node."""
    hard = [each for each in pod.spec.neighbours.spread if each.is_hard]
    uneven = "node(s) didn't match pod topology spread constraints"
    for constraint in hard:
        value = node.labels.get(constraint.topology_key)
        if value is None:
            return "PodTopologySpread", True, (f"{uneven} (missing required label)",)
        counts = world.once(constraint, partial(_counts, constraint, hard, pod, world))
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
    repelled = world.once("repelled", lambda: _repelled(pod, world))
    if any((key, node.labels.get(key)) in repelled for key in {key for key, _ in repelled}):
        text = "node(s) didn't satisfy existing pods anti-affinity rules"
        return "InterPodAffinity", False, (text,)
    return None


def _repelled(pod: Pod, world: World) -> set[Place]:
    """Return where pods are that keep this one away."""
    return {
        place
        for other, where in _standing(world)
        for term in other.spec.neighbours.anti_affinity
        if is_about(term, other, pod, world.namespaces)
        and (place := _place(term, where)) is not None
    }


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
    term: AffinityTerm, terms: Sequence[AffinityTerm], pod: Pod, world: World
) -> set[Place]:
    """Return where pods are that all terms are about, by one term's key."""
    found = world.once((term, *terms), lambda: _with_all(terms, pod, world))
    return {place for node in found if (place := _place(term, node)) is not None}


def _with_all(terms: Iterable[AffinityTerm], pod: Pod, world: World) -> list[Node]:
    """Return the nodes with pods that all terms are about."""
    return [
        node
        for node in world.nodes
        if any(
            all(is_about(each, pod, other, world.namespaces) for each in terms)
            for other in world.on(node)
        )
    ]


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
