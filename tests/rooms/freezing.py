"""A virtual loop in which whoever is told to may stand still, as a process does after SIGSTOP.

What runs in a context that belongs to somebody is kept back while its owner is frozen: answers pile up, and
clocks run on. Thawed, it all happens at once.
"""

import asyncio
import contextvars
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import msgspec

from tests.virtual import VirtualLoop

OWNER: Final = contextvars.ContextVar("owner", default="")
"""Whose work a context is; everybody's if empty."""

T = TypeVar("T")


class Held(msgspec.Struct):
    """Something to call, unless it is cancelled before; `handle` is what its owner may cancel."""

    callback: Callable[..., Any]
    arguments: tuple[Any, ...]
    context: contextvars.Context
    handle: asyncio.Handle | None = None


class FreezingLoop(VirtualLoop):
    """The loop."""

    def __init__(self) -> None:
        super().__init__()
        self._frozen: dict[str, list[Held]] = {}
        self._tasks: dict[str, weakref.WeakValueDictionary[int, asyncio.Task[Any]]] = {}
        self._made = 0
        self.set_task_factory(self._make_task)  # type: ignore[arg-type]

    def freeze(self, owner: str) -> None:
        """Let an owner stand still."""
        self._frozen.setdefault(owner, [])

    def thaw(self, owner: str) -> None:
        """Let it go on."""
        for held in self._frozen.pop(owner, []):
            super().call_soon(self._gate, owner, held, context=held.context)

    async def kill(self, owner: str) -> None:
        """End all tasks of an owner; cut off all its devices before, so that none of it has an effect."""
        self.thaw(owner)
        made = self._tasks.pop(owner, weakref.WeakValueDictionary())
        tasks = [task for _, task in sorted(made.items()) if not task.done()]
        for each in tasks:
            each.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def call_soon(  # type: ignore[override]
        self,
        callback: Callable[..., Any],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Call it soon, unless its owner is frozen then."""
        found = contextvars.copy_context() if context is None else context
        owner = found.get(OWNER, "")
        if not owner:
            return super().call_soon(callback, *args, context=found)
        held = Held(callback, args, found)
        held.handle = super().call_soon(self._gate, owner, held, context=found)
        return held.handle

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., Any],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call it at a time, unless its owner is frozen then."""
        found = contextvars.copy_context() if context is None else context
        owner = found.get(OWNER, "")
        if not owner:
            return super().call_at(when, callback, *args, context=found)
        held = Held(callback, args, found)
        handle = super().call_at(when, self._gate, owner, held, context=found)
        held.handle = handle
        return handle

    def _gate(self, owner: str, held: Held) -> None:
        waiting = self._frozen.get(owner)
        if waiting is not None:
            waiting.append(held)
        elif held.handle is None or not held.handle.cancelled():
            held.callback(*held.arguments)

    def _make_task(
        self,
        _loop: asyncio.AbstractEventLoop,
        work: Coroutine[Any, Any, Any],
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=self, context=context)
        owner = OWNER.get() if context is None else context.get(OWNER, "")
        if owner:
            self._made += 1
            self._tasks.setdefault(owner, weakref.WeakValueDictionary())[self._made] = task
        return task


def freezing_loop() -> FreezingLoop:
    """Return the loop that runs."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, FreezingLoop)
    return loop


def run_freezing(work: Coroutine[Any, Any, T]) -> T:
    """Run work."""
    with asyncio.Runner(loop_factory=FreezingLoop) as runner:
        return runner.run(work)
