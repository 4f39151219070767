"""The process: the driver and its pages, until told to stop. It ends without ending any member."""

import asyncio
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry

from springtide.apps.executor.applied import Applied
from springtide.apps.executor.driver import Driver, Pace
from springtide.apps.executor.figures import Figures
from springtide.apps.executor.performing import Performing
from springtide.apps.executor.surface import Surface
from springtide.apps.executor.wishes import Wishes
from springtide.base.clock import Clock
from springtide.edge.executors import Executor
from springtide.edge.lines import Log
from springtide.edge.serving import Application, Budget, Listener, Routes, server_for
from springtide.engine.replicas.executing import ExecutionRules

DRAIN_S: Final = 1.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one process; `kind` is what its configuration calls the executor."""

    workload: str
    kind: str
    rules: ExecutionRules
    pace: Pace = Pace()
    timeout_s: float = 10.0


class Process:
    """One executor of one workload."""

    def __init__(
        self,
        executor: Executor,
        wishes: Wishes,
        *,
        settings: Settings,
        applied: Applied,
        clock: Clock,
        log: Log,
    ) -> None:
        self._log = log
        registry = CollectorRegistry()
        self.driver = Driver(
            settings.rules,
            Performing(executor, clock=clock, timeout_s=settings.timeout_s),
            wishes,
            applied=applied,
            pace=settings.pace,
            figures=Figures(registry, settings.workload),
            log=log,
        )
        self.surface = Surface(
            self.driver, workload=settings.workload, executor=settings.kind, registry=registry
        )

    async def run(self, pages: Listener, stop: asyncio.Event) -> None:
        """Execute and show it until told to stop."""
        application = Application(
            Routes(self.surface.routes()), budget=Budget(0), tell_bug=self._tell_bug
        )
        server = server_for(application, drain_s=DRAIN_S)
        async with asyncio.TaskGroup() as group:
            served = group.create_task(server.serve(sockets=[pages.socket]))
            driven = group.create_task(self.driver.run())
            self._log("executing", host=pages.host, port=pages.port)
            await stop.wait()
            self._log("stopping")
            self.surface.is_leaving = True
            self.driver.stop()
            await driven
            server.should_exit = True
            await served
        self._log("stopped")

    def _tell_bug(self, path: str, bug: Exception) -> None:
        self._log("bug", is_fault=True, where=path, message=repr(bug))
