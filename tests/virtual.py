"""An event loop whose time is virtual: who waits, waits no time at all.

When nobody has anything to do, the time is moved to when the first one wakes up. Nothing in it may wait
for the world outside.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Moves the time instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready now."""
        assert timeout is not None, "everybody waits for somebody else, so nothing will happen"
        self.now_s += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop; it is a clock, too."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Return the virtual time."""
        return self._virtual.now_s


class LoopClock:
    """The clock of the loop that runs."""

    def monotonic_s(self) -> float:
        """Return its time."""
        return asyncio.get_running_loop().time()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run work in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
