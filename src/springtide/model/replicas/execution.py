"""Members outside Kubernetes as an executor sees them, and what it may be asked to do.

Some executors start and stop one member by its number, others are told how many there are to be. An order
carries the words that explain it.
"""

from enum import StrEnum

import msgspec


class NodeState(StrEnum):
    """How far a member is; one that has ended is none."""

    STARTING = "Starting"
    RUNNING = "Running"
    STOPPING = "Stopping"


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One member, by its number from 1 on."""

    id: str
    index: int
    state: NodeState = NodeState.RUNNING


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """How many members there are, and which; numbers without nodes are taken to be 1 to `replicas`."""

    replicas: int
    nodes: tuple[Node, ...] = ()

    @property
    def members(self) -> tuple[Node, ...]:
        """Return the members by number."""
        if self.nodes:
            return tuple(sorted(self.nodes, key=lambda node: node.index))
        return tuple(Node(id=str(index), index=index) for index in range(1, self.replicas + 1))


class ScaleOrder(msgspec.Struct, frozen=True, kw_only=True):
    """There are to be `desired` members, from `current`; none of `keep` may be stopped for it."""

    generation: int
    desired: int
    current: int
    keep: tuple[int, ...] = ()
