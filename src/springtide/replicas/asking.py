"""The application's own answers: whether it is ready, whether it holds state, what a provider thinks.

A callback may be a coroutine function or a plain one; one that blocks runs in a thread. One that raises,
answers no boolean or takes longer than its time protects: ready becomes no, stateful becomes unknown, and
nobody gives anything up for it.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import msgspec

from springtide.base.errors import SpringtideError
from springtide.engine.replicas.label_messages import Check

CALLBACK_S_MAX: Final = 5.0
NO_READY: Final = "The ready check {why}. This member does not serve until it says yes."
NO_STATEFUL: Final = "The stateful check {why}. This member stays until it says no."

YesOrNo: TypeAlias = Callable[[], bool | Awaitable[bool]]


class Failed(msgspec.Struct, frozen=True):
    """A callback did not answer, and why."""

    why: str


class Callback(msgspec.Struct, frozen=True):
    """A function of the application, and whether it blocks."""

    function: Callable[..., Any]
    is_blocking: bool = False
    timeout_s: float = CALLBACK_S_MAX

    async def call(self, *arguments: object) -> object:
        """Return what it answers, or why it does not; only bugs of ours and cancellation raise."""
        try:
            async with asyncio.timeout(self.timeout_s):
                if self.is_blocking:
                    answer = await asyncio.to_thread(self.function, *arguments)
                else:
                    answer = self.function(*arguments)
                return await answer if inspect.isawaitable(answer) else answer
        except TimeoutError:
            return Failed(f"no answer within {self.timeout_s:g} s")
        except Exception as fault:  # noqa: BLE001 - whatever the application raises, it gave no answer
            return Failed(str(fault) if isinstance(fault, SpringtideError) else repr(fault))


class Checks:
    """What the application says of itself; `untold` is what an operator should hear of it."""

    def __init__(self) -> None:
        self._ready: Callback | None = None
        self._stateful: Callback | None = None
        self._failing: set[str] = set()
        self.untold: list[str] = []

    @property
    def has_ready(self) -> bool:
        """Return whether the application says when it may serve."""
        return self._ready is not None

    @property
    def has_stateful(self) -> bool:
        """Return whether the application says what it holds."""
        return self._stateful is not None

    def set_ready(self, callback: Callback | None) -> None:
        """Ask this from now on."""
        self._ready = callback

    def set_stateful(self, callback: Callback | None) -> None:
        """Ask this from now on."""
        self._stateful = callback

    async def ready(self) -> Check:
        """Return whether this member may serve: no, where nobody can tell."""
        found = await self._asked(self._ready, NO_READY)
        return Check.NO if found is Check.UNKNOWN else found

    async def stateful(self) -> Check:
        """Return whether this member holds state."""
        return await self._asked(self._stateful, NO_STATEFUL)

    async def _asked(self, callback: Callback | None, words: str) -> Check:
        if callback is None:
            return Check.ABSENT
        answer = await callback.call()
        if isinstance(answer, bool):
            self._failing.discard(words)
            return Check.YES if answer else Check.NO
        if words not in self._failing:
            self._failing.add(words)
            self.untold.append(words.format(why=_why(answer)))
        return Check.UNKNOWN


def _why(answer: object) -> str:
    if isinstance(answer, Failed):
        return f"failed: {answer.why}"
    return f"said {answer!r:.100}, which is neither true nor false"
