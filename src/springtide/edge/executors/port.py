"""What an executor does. There are two kinds, and no kind pretends to be the other.

`ByIndex` starts and stops each member by its number, so the order in which they go is ours. `ByNumber` is told
how many there are to be and which must stay; it is trusted to let the highest go.
"""

from typing import Protocol, TypeAlias, runtime_checkable

from springtide.model.replicas.execution import Observation, ScaleOrder


@runtime_checkable
class ByIndex(Protocol):
    """Starts and stops members by their number from 1 on."""

    async def observe(self) -> Observation:
        """Return which members there are, or raise Unobservable."""
        ...

    async def start(self, index: int) -> None:
        """Start one, unless it runs already; raises NotDone or OutcomeUnknown."""
        ...

    async def stop(self, index: int) -> None:
        """Ask one to end, and do not wait for it; raises NotDone or OutcomeUnknown."""
        ...

    async def kill(self, index: int) -> None:
        """End one at once; raises NotDone or OutcomeUnknown."""
        ...


@runtime_checkable
class ByNumber(Protocol):
    """Takes how many members there are to be."""

    async def observe(self) -> Observation:
        """Return which members there are, or raise Unobservable."""
        ...

    async def scale(self, order: ScaleOrder) -> None:
        """Have so many; the same order twice has one effect. Raises NotDone or OutcomeUnknown."""
        ...


Executor: TypeAlias = ByIndex | ByNumber
