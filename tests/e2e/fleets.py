"""A fleet of stand-in nodes beside a test, in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from springtide.edge.kube import Access, connect
from tests.e2e.controlplane import ControlPlane
from tests.standin.bodies import FakeNode
from tests.standin.conduct import Conduct
from tests.standin.fleet import Fleet
from tests.standin.live import live_fleet

T = TypeVar("T")

PATIENCE_S: Final = 30.0
BEAT_S: Final = 1.0


class Aside:
    """An event loop in a thread of its own, for the length of a block."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="aside")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.done(_nothing_left())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start work and go on."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def done(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what comes of some work."""
        return self.start(work).result(PATIENCE_S)


class RunningFleet(msgspec.Struct, frozen=True):
    """What a test may tell its fleet."""

    fleet: Fleet
    aside: Aside

    def order(self, name: str, conduct: Conduct) -> None:
        """Let a node behave like this from now on."""
        self.aside.done(self.fleet.order(name, conduct))

    def join(self, name: str) -> None:
        """Let a node that was deleted come back."""
        self.aside.done(self.fleet.join(name))


@contextmanager
def running_fleet(
    plane: ControlPlane, nodes: Sequence[FakeNode], *, beat_s: float = BEAT_S
) -> Iterator[RunningFleet]:
    """Keep nodes alive as long as the block; a fleet that fails fails the block."""
    with Aside() as aside:
        connection = aside.done(connect(Access(kubeconfig=plane.kubeconfig("admin"))))
        try:
            fleet = live_fleet(connection, nodes, beat_s=beat_s)
            running = aside.start(fleet.run())
            yield RunningFleet(fleet, aside)
            if running.done():
                running.result()
            running.cancel()
        finally:
            aside.done(_nothing_left())
            aside.done(connection.__aexit__(None, None, None))


async def _nothing_left() -> None:
    """Cancel everything else that runs, and wait until it has ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)
