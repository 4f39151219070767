"""Counting the pods of a gang: which of them it starts with, and whether it has enough."""

from collections import Counter
from collections.abc import Collection, Iterable

import msgspec

from springtide.model.gang import Gang
from springtide.model.pod import Pod


class TaskTally(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One task of a gang: how many of its pods must run, and how many would."""

    name: str
    minimum: int
    running: int

    @property
    def missing(self) -> int:
        """Return how many pods it lacks."""
        return max(0, self.minimum - self.running)


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """How many pods of a gang would run, in all and of every task that has a minimum."""

    minimum: int
    running: int
    tasks: tuple[TaskTally, ...] = ()

    @property
    def missing(self) -> int:
        """Return how many more pods would have to run; 0 if the gang may start."""
        of_tasks = sum(task.missing for task in self.tasks)
        return max(of_tasks, self.minimum - self.running, 0)


def tally(gang: Gang, left: Collection[str]) -> Tally:
    """Return how far the gang gets if all of its pods but those `left`, by uid, have a place."""
    placed = [member for member in gang.waiting if member.pod.uid not in left]
    of_tasks = Counter(member.task for member in placed) if gang.tasks else Counter()
    return Tally(
        minimum=gang.minimum,
        running=gang.standing + len(placed),
        tasks=tuple(
            TaskTally(
                name=task.name, minimum=task.minimum, running=task.standing + of_tasks[task.name]
            )
            for task in gang.tasks
        ),
    )


def is_met(gang: Gang, left: Collection[str]) -> bool:
    """Return whether the gang may start if all of its pods but those `left` have a place."""
    return not tally(gang, left).missing


def first_needed(gang: Gang) -> tuple[Pod, ...]:
    """Return as few pods as let the gang start: what its tasks need, then in their order.

    There may be fewer than it takes. None is returned if enough have their places already.
    """
    wanted = {task.name: task.minimum - task.standing for task in gang.tasks}
    needed: set[str] = set()
    for member in gang.waiting:
        if wanted.get(member.task, 0) > 0:
            wanted[member.task] -= 1
            needed.add(member.pod.uid)
    more = gang.minimum - gang.standing - len(needed)
    for member in gang.waiting:
        if more > 0 and member.pod.uid not in needed:
            more -= 1
            needed.add(member.pod.uid)
    return tuple(pod for pod in gang.pods if pod.uid in needed)


def without(pods: Iterable[Pod], some: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return the pods that are not among some of them."""
    uids = {pod.uid for pod in some}
    return tuple(pod for pod in pods if pod.uid not in uids)
