"""The score plugins, one node at a time, as slow and as plain as the rules read.

This is what the columnar scores are compared with. Everything is worked out anew for every node
from lists of pods; whole numbers are Python's, and floats are used where kube-scheduler uses them.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import msgspec
from msgspec.structs import replace

from springtide.base import quantity
from springtide.base.names import is_scalar_resource
from springtide.base.quantity import Quantity
from springtide.engine.scoring.config import ScoringConfig
from springtide.model.neighbours import AffinityTerm, SpreadConstraint
from springtide.model.node import Node
from springtide.model.plugin_arguments import ShapePoint
from springtide.model.pod import Container, Pod
from springtide.model.preferences import PreferredPods
from springtide.model.resources import Resources
from tests.reference import between
from tests.reference import framework as filters

Marks = dict[str, int]
"""Node to raw or normalised score."""
Answer = tuple[Marks, Marks]
MIB = 2**20
ASSUMED = {"cpu": quantity.parse("100m"), "memory": quantity.parse("200Mi")}
HOSTNAME = "kubernetes.io/hostname"


class World(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster, the pod that comes, and the nodes that it fits."""

    pod: Pod
    nodes: Sequence[Node]
    running: Sequence[Pod]
    fitting: Sequence[Node]
    namespaces: between.Namespaces

    def on(self, node: Node) -> list[Pod]:
        """Return the pods on a node."""
        return [pod for pod in self.running if pod.node_name == node.name]


def scores(world: World, config: ScoringConfig) -> dict[str, Answer]:
    """Return what each plugin says that has something to say, by its name."""
    found = {
        "TaintToleration": taints(world),
        "NodeAffinity": node_affinity(world, config),
        "NodeResourcesFit": fit(world, config),
        "NodeResourcesBalancedAllocation": balanced(world, config),
        "ImageLocality": images(world),
        "PodTopologySpread": spread(world),
        "InterPodAffinity": affinity(world, config),
    }
    return {name: answer for name, answer in found.items() if answer is not None}


def taints(world: World) -> Answer:
    """Fewer PreferNoSchedule taints are better."""
    raw = {
        node.name: sum(
            not any(filters.tolerates(each, taint) for each in world.pod.spec.tolerations)
            for taint in node.taints
            if taint.effect == "PreferNoSchedule"
        )
        for node in world.fitting
    }
    highest = max(raw.values(), default=0)
    if highest == 0:
        return raw, dict.fromkeys(raw, 100)
    return raw, {name: 100 - 100 * value // highest for name, value in raw.items()}


def node_affinity(world: World, config: ScoringConfig) -> Answer | None:
    """More weight of preferred terms is better."""
    preferred = (*config.preferred_nodes, *world.pod.preferences.nodes)
    if not preferred:
        return None
    raw = {
        node.name: sum(each.weight for each in preferred if filters.meets_term(each.term, node))
        for node in world.fitting
    }
    highest = max(raw.values(), default=0)
    if highest == 0:
        return raw, raw
    return raw, {name: 100 * value // highest for name, value in raw.items()}


def images(world: World) -> Answer:
    """More of the pod's images is better, as far as other nodes have them too."""
    names = [
        name if ":" in name.rpartition("/")[2] else f"{name}:latest"
        for name in world.pod.preferences.images
    ]
    most = 1000 * MIB * max(len(names), 1)
    found = {}
    for node in world.fitting:
        worth = 0
        for name in names:
            size = _size(name, node)
            if size is not None:
                having = sum(_size(name, other) is not None for other in world.nodes)
                worth += int(size * (having / len(world.nodes)))
        worth = min(max(worth, 23 * MIB), most)
        found[node.name] = 100 * (worth - 23 * MIB) // (most - 23 * MIB)
    return found, found


def _size(name: str, node: Node) -> int | None:
    return next((each.size_bytes for each in node.images if name in each.names), None)


# Resources


def fit(world: World, config: ScoringConfig) -> Answer:
    """Emptier or fuller is better, with something assumed for containers that say nothing."""
    found = {}
    strategy = config.strategy
    for node in world.fitting:
        parts = [
            (each.weight, needed, there)
            for each in strategy.resources
            for asked in [_asked(world.pod, each.name, assumes=True, whole=False)]
            for needed in [asked + _used(node, each.name, world, assumes=True)]
            for there in [_units(node.allocatable, each.name)]
            if there and (asked or not is_scalar_resource(each.name))
        ]
        if strategy.type == "RequestedToCapacityRatio":
            assert strategy.requested_to_capacity_ratio is not None
            shape = strategy.requested_to_capacity_ratio.shape
            found[node.name] = _by_line(parts, shape)
        else:
            of_each = _STRATEGIES[strategy.type]
            weights = sum(weight for weight, _, _ in parts)
            total = sum(weight * of_each(needed, there) for weight, needed, there in parts)
            found[node.name] = total // weights if weights else 0
    return found, found


_STRATEGIES: Mapping[str, Callable[[int, int], int]] = {
    "LeastAllocated": lambda needed, there: max(there - needed, 0) * 100 // there,
    "MostAllocated": lambda needed, there: min(needed, there) * 100 // there,
}


def _by_line(parts: Iterable[tuple[int, int, int]], shape: Sequence[ShapePoint]) -> int:
    scored = [
        (weight, _line(100 if needed > there else needed * 100 // there, shape))
        for weight, needed, there in parts
    ]
    counting = [(weight, score) for weight, score in scored if score > 0]
    if not counting:
        return 0
    mean = Fraction(sum(w * s for w, s in counting), sum(w for w, _ in counting))
    return math.floor(mean + Fraction(1, 2))


def _line(utilization: int, shape: Sequence[ShapePoint]) -> int:
    if utilization <= shape[0].utilization:
        return shape[0].score * 10
    for first, second in itertools.pairwise(shape):
        if utilization <= second.utilization:
            part = Fraction(utilization - first.utilization, second.utilization - first.utilization)
            return first.score * 10 + math.trunc((second.score - first.score) * 10 * part)
    return shape[-1].score * 10


def balanced(world: World, config: ScoringConfig) -> Answer | None:
    """Resources that are used more alike with the pod than without it are better."""
    names = [each.name for each in config.balanced]
    asked = {name: _asked(world.pod, name, assumes=False, whole=True) for name in names}
    if not any(asked.values()):
        return None
    found = {}
    for node in world.fitting:
        counted = [
            name
            for name in names
            if _units(node.allocatable, name) and (asked[name] or not is_scalar_resource(name))
        ]
        there = [_units(node.allocatable, name) for name in counted]
        used = [_used(node, name, world, assumes=False) for name in counted]
        after = [each + asked[name] for each, name in zip(used, counted, strict=True)]
        found[node.name] = 50 + (50 + _evenness(after, there) - _evenness(used, there)) // 2
    return found, found


def _evenness(used: Sequence[int], there: Sequence[int]) -> int:
    parts = [min(each / total, 1.0) for each, total in zip(used, there, strict=True)]
    if len(parts) == 2:
        deviation = abs((parts[0] - parts[1]) / 2)
    elif parts:
        mean = sum(parts) / len(parts)
        deviation = math.sqrt(sum((part - mean) * (part - mean) for part in parts) / len(parts))
    else:
        deviation = 0.0
    return int((1 - deviation) * 100)


def _used(node: Node, name: str, world: World, *, assumes: bool) -> int:
    return sum(_asked(pod, name, assumes=assumes, whole=True) for pod in world.on(node))


def _asked(pod: Pod, name: str, *, assumes: bool, whole: bool) -> int:
    """Return what a pod asks, rounded up; `whole` includes what is stated for the pod itself."""
    spec = pod.spec if whole else replace(pod.spec, requests=())
    if assumes:
        stated = filters.requests(spec) if spec.requests else {}
        missing = {each: amount for each, amount in ASSUMED.items() if each not in stated}
        spec = replace(
            spec,
            containers=tuple(_stating(each, missing) for each in spec.containers),
            init_containers=tuple(_stating(each, missing) for each in spec.init_containers),
        )
    asked = filters.requests(spec).get(name, Fraction(0))
    return math.ceil(asked * 1000 if name == "cpu" else asked)


def _stating(container: Container, missing: Mapping[str, Quantity]) -> Container:
    return replace(container, requests=tuple({**missing, **dict(container.requests)}.items()))


def _units(resources: Resources, name: str) -> int:
    there = dict(resources).get(name)
    if there is None:
        return 0
    return there.milli() if name == "cpu" else there.value()


# Other pods


def spread(world: World) -> Answer | None:
    """Fewer equal pods in a node's domains are better."""
    soft = [each for each in world.pod.spec.neighbours.spread if not each.is_hard]
    if not soft:
        return None
    keys = [each.topology_key for each in soft]
    compared = [node for node in world.fitting if all(key in node.labels for key in keys)]
    raw = dict.fromkeys((node.name for node in world.fitting), 0)
    for node in compared:
        marks = 0.0
        for each in soft:
            key = each.topology_key
            if key == HOSTNAME:
                number, count = len(compared), _alike(each, node, world)
            else:
                number = len({other.labels[key] for other in compared})
                count = sum(
                    _alike(each, other, world)
                    for other in world.nodes
                    if other.labels.get(key) == node.labels[key]
                    and all(key in other.labels for key in keys)
                    and _is_counted(each, other, world)
                )
            marks += count * math.log(number + 2) + (each.max_skew - 1)
        raw[node.name] = math.floor(marks + 0.5)
    values = [raw[node.name] for node in compared]
    highest, lowest = max(values, default=0), min(values, default=0)
    normalised = dict.fromkeys(raw, 0)
    for node in compared:
        part = 100 * (highest + lowest - raw[node.name]) // highest if highest else 100
        normalised[node.name] = part
    return raw, normalised


def _is_counted(constraint: SpreadConstraint, node: Node, world: World) -> bool:
    if constraint.honors_affinity and not filters.meets_affinity(world.pod, node):
        return False
    return not constraint.honors_taints or filters.is_tolerated(world.pod, node)


def _alike(constraint: SpreadConstraint, node: Node, world: World) -> int:
    return between.alike(constraint, world.pod, world.on(node))


def affinity(world: World, config: ScoringConfig) -> Answer | None:
    """More weight of attractive pods in a node's domains is better."""
    own = world.pod.preferences
    if config.ignores_preferences_of_others and not (own.near or own.away):
        return None
    places: dict[between.Place, int] = {}
    for node in world.nodes:
        for other in world.on(node):
            for weight, term in _drawing(world.pod, other, world, config):
                if term.topology_key in node.labels:
                    place = term.topology_key, node.labels[term.topology_key]
                    places[place] = places.get(place, 0) + weight
    if not places:
        return None
    raw = {
        node.name: sum(places.get(place, 0) for place in node.labels.items())
        for node in world.fitting
    }
    lowest, highest = min(raw.values()), max(raw.values())
    span = highest - lowest
    return raw, {
        name: int(100 * ((value - lowest) / span)) if span else 0 for name, value in raw.items()
    }


def _drawing(
    pod: Pod, other: Pod, world: World, config: ScoringConfig
) -> Iterable[tuple[int, AffinityTerm]]:
    """Yield the weights of the terms that hold between two pods, one of which is there."""
    for owner, met in ((pod, other), (other, pod)):
        for weight, preferred in _preferred(owner):
            if between.is_about(preferred.term, owner, met, world.namespaces):
                yield weight, preferred.term
    if config.required_affinity_weight > 0:
        for term in other.spec.neighbours.affinity:
            if between.is_about(term, other, pod, world.namespaces):
                yield config.required_affinity_weight, term


def _preferred(pod: Pod) -> Iterable[tuple[int, PreferredPods]]:
    yield from ((each.weight, each) for each in pod.preferences.near)
    yield from ((-each.weight, each) for each in pod.preferences.away)
