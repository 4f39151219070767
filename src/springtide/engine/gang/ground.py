"""The ground that gangs are placed on: somewhere that pods are put, and taken away again."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from springtide.engine.capacity.schedulable import fill
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.model.gang import Gang
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod


class Ground(Protocol):
    """Where pods are placed.

    With `is_moving`, a placement may also make room for others, because rules read other pods.
    """

    @property
    def is_moving(self) -> bool: ...

    def likeness(self, pod: Pod) -> Hashable:
        """Return what a pod has in common with those that find room wherever it does."""

    def place(self, pods: Sequence[Pod]) -> tuple[Pod, ...]:
        """Place what fits, hold it, and return the pods that fit nowhere."""

    def fork(self) -> None:
        """Open a level that can be reverted or committed."""

    def revert(self) -> None:
        """Undo everything since the last fork."""

    def commit(self) -> None:
        """Keep everything since the last fork."""


@contextmanager
def trial(ground: Ground) -> Iterator[None]:
    """Open a level that is reverted at the end, whatever happens inside."""
    ground.fork()
    try:
        yield
    finally:
        ground.revert()


def likeness(gang: Gang, ground: Ground) -> Hashable:
    """Return what gangs have in common that fare alike on this ground."""
    tasks = {task.name for task in gang.tasks}
    return (
        gang.minimum - gang.standing,
        gang.tasks,
        tuple(
            (ground.likeness(member.pod), member.task if member.task in tasks else "")
            for member in gang.waiting
        ),
    )


class StandingNodes:
    """The nodes that are there, as a ground: pods go where the plan would put them."""

    def __init__(self, tables: Tables, overlay: Overlay, classifier: Classifier) -> None:
        self._tables = tables
        self._overlay = overlay
        self._classifier = classifier

    @property
    def is_moving(self) -> bool:
        """Return whether a placement may make room for other pods."""
        return self._classifier.has_rules_between or self._tables.has_shared_devices

    def likeness(self, pod: Pod) -> Hashable:
        """Return the pod's class."""
        return self._classifier.classify(pod)

    def place(self, pods: Sequence[Pod]) -> tuple[Pod, ...]:
        """Place what fits, hold it, and return the pods that fit nowhere."""
        return fill(pods, self._tables, self._overlay, self._classifier).left

    def fork(self) -> None:
        """Open a level that can be reverted or committed."""
        self._overlay.fork()

    def revert(self) -> None:
        """Undo everything since the last fork."""
        self._overlay.revert()

    def commit(self) -> None:
        """Keep everything since the last fork."""
        self._overlay.commit()
