"""A controller for programs without an event loop, in real time and with members that meet in memory."""

import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.store import MemorySite, MemoryStore
from springtide.model.replicas.rules import Schedule
from springtide.model.replicas.settings import LabelSettings, PullSettings
from springtide.replicas import Identity, ReplicaController, ThreadedController
from tests.members import SETTINGS, Lines

QUICK: Final = replace(
    SETTINGS,
    schedule=Schedule(),
    pull=PullSettings(interval_ms=1000, export_interval_ms=10, scrape_interval_ms=10),
    labels=LabelSettings(init_wait_ms=0),
)


@asynccontextmanager
async def opened(
    holds: Callable[[], bool], listened: Callable[[object], None]
) -> AsyncIterator[ReplicaController]:
    """A controller whose checks and listeners block."""
    controller = ReplicaController(
        QUICK,
        Identity(name="chat-0", index=1, service="chat"),
        store=MemoryStore(MemorySite(MachineClock())),
        clock=MachineClock(),
        calendar=MachineCalendar(),
        log=Lines(),
    )
    controller.set_ready_check(lambda: True)
    controller.set_stateful_check(holds, is_blocking=True)
    controller.subscribe("ready_changed", listened, is_blocking=True)
    yield controller


def test_a_program_without_a_loop_asks_orders_and_drains() -> None:
    holding, told, seen = threading.Event(), threading.Event(), []
    holding.set()

    def listened(news: object) -> None:
        time.sleep(0.05)
        seen.append(threading.current_thread())
        told.set()

    with ThreadedController(lambda: opened(holding.is_set, listened)) as threaded:
        assert told.wait(10)
        assert threaded.snapshot().is_ready
        assert threaded.stop() == 1
        assert not threaded.drain(timeout_s=0.5)
        holding.clear()

        assert threaded.drain(timeout_s=10)
        assert threaded.stop() == 0
    assert threading.current_thread() not in seen
    assert not [each for each in threading.enumerate() if each.name == "springtide-replicas"]


def test_what_fails_at_the_start_fails_in_the_program() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[ReplicaController]:
        raise OSError("no store")
        yield

    with pytest.raises(OSError, match="no store"), ThreadedController(broken):
        pass
