"""A controller for programs without an event loop: it runs on a loop of its own, in one thread.

What is known is read from the snapshot, in any thread and without waiting. Callbacks are called on the
controller's thread; those that block belong to `is_blocking=True`, which gives each call a thread.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeVar

from springtide.replicas.controller import ReplicaController
from springtide.replicas.snapshot import Snapshot
from springtide.replicas.stopping import drain

CALL_S_MAX: Final = 30.0
START_S_MAX: Final = 60.0

T = TypeVar("T")

Open: TypeAlias = Callable[[], AbstractAsyncContextManager[ReplicaController]]
"""Makes the controller, with its store and all else that belongs to its loop, inside that loop."""


class ThreadedController:
    """Runs a controller while its block is entered; leaving it closes at once, `drain` comes before."""

    def __init__(self, open_controller: Open) -> None:
        self._open = open_controller
        self._thread = threading.Thread(target=self._work, name="springtide-replicas", daemon=True)
        self._ready: Future[tuple[asyncio.AbstractEventLoop, ReplicaController]] = Future()
        self._end: asyncio.Event | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.result(START_S_MAX)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def controller(self) -> ReplicaController:
        """Return the controller: what it knows may be asked from any thread, all else through `call`."""
        return self._ready.result(0)[1]

    def snapshot(self) -> Snapshot:
        """Return the latest moment."""
        return self.controller.snapshot()

    def call(self, work: Coroutine[Any, Any, T], *, timeout_s: float = CALL_S_MAX) -> T:
        """Do work of the controller on its loop and return what comes of it, or raise TimeoutError."""
        loop, _ = self._ready.result(0)
        return asyncio.run_coroutine_threadsafe(work, loop).result(timeout_s)

    def stop(self, *, prestop: bool = False) -> int:
        """Ask the member to leave; 1 while it still serves, else 0."""
        return self.call(self.controller.stop(prestop=prestop))

    def drain(self, *, timeout_s: float) -> bool:
        """Ask the member to leave, and return whether it holds nothing within the time."""
        draining = drain(self.controller, timeout_s=timeout_s)
        return self.call(draining, timeout_s=timeout_s + CALL_S_MAX)

    def close(self) -> None:
        """End at once, and wait for the thread."""
        if not self._ready.done() or self._ready.exception() is not None:
            return
        loop, _ = self._ready.result(0)
        if self._thread.is_alive() and self._end is not None:
            loop.call_soon_threadsafe(self._end.set)
        self._thread.join(START_S_MAX)

    def _work(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as fault:
            if not self._ready.done():
                self._ready.set_exception(fault)
            else:
                raise

    async def _run(self) -> None:
        self._end = asyncio.Event()
        async with self._open() as controller:
            await controller.start()
            self._ready.set_result((asyncio.get_running_loop(), controller))
            await self._end.wait()
            await controller.close()
