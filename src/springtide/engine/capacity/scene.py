"""What one step of growing is decided on: groups, pods, limits, and how to decide."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from springtide.base.clock import Clock
from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.estimate import Estimate
from springtide.engine.capacity.limits import Limiter, Threshold, cluster_room, headroom
from springtide.engine.capacity.quotas import Quota, Tracker
from springtide.engine.capacity.similarity import Similarity
from springtide.engine.placement.classes import PodClass
from springtide.engine.simulation.templates import Template
from springtide.model.group import NodeGroup
from springtide.model.refusal import Refusal


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How far one plan may go; 0 does not bound. Defaults are Cluster Autoscaler's."""

    nodes_per_step_max: int = 1000
    nodes_total_max: int = 0
    step_duration_s_max: float = 10.0
    quotas: tuple[Quota, ...] = ()


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How to decide: spread over similar groups or not, take a part of the pods or not.

    `asks_skipped` asks groups that may not grow about pods that fit nowhere, so that the answer
    names what is in the way after that. `raises_to_minimum` raises groups below their minimum size
    that no pod needs.
    """

    similarity: Similarity | None = None
    is_all_or_nothing: bool = False
    asks_skipped: bool = False
    raises_to_minimum: bool = False


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One group: its nodes so far, what a new one would be, and what it says to every class.

    `closed` is what keeps the group from growing whatever is asked, known to the caller.
    """

    group: NodeGroup
    size: int
    template: Template | Refusal
    verdicts: Mapping[PodClass, Refusal | None] = {}
    closed: Refusal | None = None


Estimator = Callable[[Candidate, Sequence[Batch], Sequence[Candidate]], Estimate]
"""Says how many nodes of a group pods need, given the similar groups that would share them."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What is decided on: the groups, the pods that wait, and how much there is already."""

    candidates: Sequence[Candidate]
    waiting: Sequence[Batch]
    tracker: Tracker
    node_count: int
    estimator: Estimator
    bounds: Bounds = Bounds()
    manner: Manner = Manner()


def limiter(
    candidate: Candidate,
    similar: Sequence[Candidate],
    *,
    bounds: Bounds,
    node_count: int,
    clock: Clock,
) -> Limiter:
    """Return the limiter of one estimate: the step, the groups' own sizes, the cluster."""
    rooms = [(each.group.max_size, each.size) for each in (candidate, *similar)]
    return Limiter(
        (
            Threshold(bounds.nodes_per_step_max, bounds.step_duration_s_max),
            headroom(rooms),
            cluster_room(bounds.nodes_total_max, node_count),
        ),
        clock,
    )
