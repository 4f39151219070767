"""What a plan is made from, and what it says: records of the question and of the answer."""

from collections.abc import Sequence

import msgspec

from springtide.base.clock import Clock
from springtide.base.progress import Progress, Unwatched
from springtide.engine.capacity.estimate import NewNode
from springtide.engine.capacity.explain import Stuck
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.engine.gang.tally import Tally
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.engine.preemption import Evictable, Residents
from springtide.engine.simulation.templates import Template
from springtide.model.gang import Gang
from springtide.model.group import NodeGroup
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


class SizedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group with the number of nodes it has, and its template or why there is none."""

    group: NodeGroup
    size: int
    template: Template | Refusal


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is made from. No pod is counted on to go; `evictable` is only talked about.

    Pods of `gangs` are among those that are pending.
    """

    tables: Tables
    classifier: Classifier
    pending: Sequence[Pod]
    gangs: Sequence[Gang] = ()
    groups: Sequence[SizedGroup]
    clock: Clock
    bounds: Bounds = Bounds()
    manner: Manner = Manner()
    evictable: Evictable = Evictable(residents=Residents())
    progress: Progress = Unwatched()


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One growth: the group, its size before and after, who goes where, and why this group.

    One that `is_raise` only brings the group to its minimum size.
    """

    group: NodeGroup
    size_before: int
    size_after: int
    nodes: tuple[NewNode, ...]
    why: str
    rejected: tuple[tuple[str, str], ...] = ()
    is_raise: bool = False


class GangAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the plan does for a gang.

    One that `is_met` runs with so many pods as `tally` says; otherwise none of its pods is planned for,
    and that is how many would run beside everything else. Then `obstacle` says why the next pod that
    it needs would not, None if it has too few pods; where only a limit keeps the closest group from
    growing, `nodes_allowed` of `nodes_needed` new nodes of it are possible, else both are 0.
    """

    gang: Gang
    tally: Tally
    is_met: bool
    obstacle: Stuck | None = None
    nodes_needed: int = 0
    nodes_allowed: int = 0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `objections` says of every group which pods it refuses, counted per reason.

    `stuck` are pods that fit nowhere; those of gangs that are not met are only in `gangs`. `short` are groups that stay below their minimum size though they should not, with the reason.
    """

    fitting: tuple[tuple[Pod, str], ...]
    steps: tuple[Step, ...]
    stuck: tuple[Stuck, ...]
    objections: tuple[tuple[str, tuple[tuple[Refusal, int], ...]], ...]
    sizes: tuple[tuple[str, int, int], ...]
    short: tuple[tuple[str, Refusal], ...] = ()
    gangs: tuple[GangAnswer, ...] = ()

    @property
    def obstacles(self) -> tuple[Stuck, ...]:
        """Return what is in the way: of pods that fit nowhere, then of gangs in their order."""
        return (*self.stuck, *(each.obstacle for each in self.gangs if each.obstacle is not None))
