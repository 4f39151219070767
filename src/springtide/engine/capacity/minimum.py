"""Groups below their smallest size: by how many nodes limits let them be raised.

A group that grows for pods grows to its minimum at least. With Cluster Autoscaler's enforcement of
minimum sizes, groups that no pod needs are raised too. Either way nobody is raised beyond what the
cluster may have; what keeps a group below its minimum is told.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from springtide.engine.capacity.decision import Growth, skip_reason
from springtide.engine.capacity.explain import LIMIT
from springtide.engine.capacity.scene import Scene
from springtide.engine.simulation.templates import Template
from springtide.model.refusal import Refusal

CLUSTER_FULL = Refusal(rule=LIMIT, reasons=("max total nodes in cluster reached",))


class Raised(msgspec.Struct, frozen=True):
    """What is raised, and which groups stay below their minimum, each with what is in the way."""

    growths: tuple[Growth, ...] = ()
    short: tuple[tuple[str, Refusal], ...] = ()


def at_least(growths: Sequence[Growth], scene: Scene) -> tuple[Growth, ...]:
    """Return the growths, each up to the minimum of its group as far as limits allow."""
    known = {candidate.group.name: candidate for candidate in scene.candidates}
    room = _Room(scene)
    for growth in growths:
        room.take(known[growth.name].template, growth.count)
    grown = []
    for growth in growths:
        candidate = known[growth.name]
        missing = max(0, candidate.group.min_size - growth.size_after)
        granted, _ = room.granted(candidate.template, missing)
        grown.append(replace(growth, size_after=growth.size_after + granted))
    return tuple(grown)


def raised(scene: Scene) -> Raised:
    """Return how all groups below their minimum are raised, in their order."""
    room = _Room(scene)
    growths: list[Growth] = []
    short: list[tuple[str, Refusal]] = []
    for candidate in scene.candidates:
        group, size = candidate.group, candidate.size
        if size >= group.min_size:
            continue
        reason = skip_reason(room.scene, candidate)
        if reason is None:
            # One that has all of its nodes or none cannot stop on the way.
            target = group.max_size if group.is_zero_or_max else group.min_size
            granted, reason = room.granted(candidate.template, target - size)
            growths.append(Growth(name=group.name, size_before=size, size_after=size + granted))
        if reason is not None:
            short.append((group.name, reason))
    return Raised(tuple(growth for growth in growths if growth.count), tuple(short))


class _Room:
    """What limits leave while groups are raised one after the other."""

    def __init__(self, scene: Scene) -> None:
        self.scene = replace(scene, tracker=scene.tracker.fork())

    def take(self, template: Template | Refusal, count: int) -> None:
        """Count new nodes."""
        assert isinstance(template, Template)
        self.scene.tracker.consume(template, count)
        self.scene = replace(self.scene, node_count=self.scene.node_count + count)

    def granted(self, template: Template | Refusal, wanted: int) -> tuple[int, Refusal | None]:
        """Count as many new nodes as limits allow; return their number, and what allows no more."""
        assert isinstance(template, Template)
        total_max = self.scene.bounds.nodes_total_max
        space = max(0, total_max - self.scene.node_count) if total_max else wanted
        allowance = self.scene.tracker.allowed(template, min(wanted, space))
        self.take(template, allowance.count)
        if allowance.count < min(wanted, space):
            return allowance.count, allowance.refusal
        return allowance.count, CLUSTER_FULL if space < wanted else None
