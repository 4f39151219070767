"""What a plan has come to so far, in levels that can be taken back together with the overlay.

Lists only grow within a level, so that a level is remembered by their lengths.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from springtide.engine.capacity.quotas import Tracker
from springtide.engine.capacity.situation import Step
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod


class _Level(msgspec.Struct, frozen=True, kw_only=True):
    """How everything was when a level was opened."""

    sizes: Mapping[str, int]
    tracker: Tracker
    rejected: Mapping[str, str]
    is_cut_off: bool
    steps: int
    placed: int
    nodes: int


class Course:
    """The sizes of groups, the steps and their nodes, who went where, and what quotas leave.

    `rejected` says of groups why they were not chosen last; with `is_cut_off` the plan ended too soon.
    """

    def __init__(self, overlay: Overlay, tracker: Tracker, sizes: Mapping[str, int]) -> None:
        self.tracker = tracker
        self.sizes = dict(sizes)
        self.rejected: Mapping[str, str] = {}
        self.is_cut_off = False
        self.steps: list[tuple[Step, tuple[str, ...]]] = []
        self.placed: list[tuple[Pod, str]] = []
        self._overlay = overlay
        self._levels: list[_Level] = []
        self._nodes: list[str] = []
        self._is_new: set[str] = set()

    def fork(self) -> None:
        """Open a level that can be reverted or committed."""
        self._overlay.fork()
        self._levels.append(
            _Level(
                sizes=dict(self.sizes),
                tracker=self.tracker.fork(),
                rejected=self.rejected,
                is_cut_off=self.is_cut_off,
                steps=len(self.steps),
                placed=len(self.placed),
                nodes=len(self._nodes),
            )
        )

    def revert(self) -> None:
        """Undo everything since the last fork."""
        self._overlay.revert()
        level = self._levels.pop()
        self.sizes, self.tracker = dict(level.sizes), level.tracker
        self.rejected, self.is_cut_off = level.rejected, level.is_cut_off
        del self.steps[level.steps :]
        del self.placed[level.placed :]
        self._is_new.difference_update(self._nodes[level.nodes :])
        del self._nodes[level.nodes :]

    def commit(self) -> None:
        """Keep everything since the last fork."""
        self._overlay.commit()
        self._levels.pop()

    def add_step(self, step: Step, nodes: Sequence[str]) -> None:
        """Record a growth with the names of its nodes."""
        self.steps.append((step, tuple(nodes)))
        self.sizes[step.group.name] = step.size_after
        self._nodes.extend(nodes)
        self._is_new.update(nodes)

    def place(self, pods: Iterable[tuple[Pod, str]]) -> None:
        """Record which pods went to which nodes."""
        self.placed.extend(pods)

    @property
    def fitting(self) -> tuple[tuple[Pod, str], ...]:
        """Return the pods that went to nodes that were there, each with the node's name."""
        return tuple((pod, name) for pod, name in self.placed if name not in self._is_new)

    def served(self) -> dict[str, list[Pod]]:
        """Return the pods of each new node that got any, in the order in which they came."""
        found: dict[str, list[Pod]] = {}
        for pod, name in self.placed:
            if name in self._is_new:
                found.setdefault(name, []).append(pod)
        return found
