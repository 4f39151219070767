"""The process: serves reviews until told to stop, and lets answers finish.

It is ready without Prometheus: what it does not know keeps replicas from being lowered, and nothing else.
"""

import asyncio
from typing import Final

import uvicorn
from prometheus_client import CollectorRegistry

from springtide.apps.adapter import Endpoints, Times
from springtide.apps.adapter.figures import Figures as QueryFigures
from springtide.apps.adapter.tables import Tables
from springtide.apps.adapter.values import Values
from springtide.apps.adapter.workloads import Workloads
from springtide.apps.guard.figures import Figures
from springtide.apps.guard.floors import Floors
from springtide.apps.guard.reviewing import Reviewing
from springtide.apps.guard.settings import Settings
from springtide.apps.guard.surface import REVIEW_BYTES_MAX, Surface
from springtide.edge.kube.transport import Transport
from springtide.edge.lines import Log
from springtide.edge.prometheus import Prometheus
from springtide.edge.serving import (
    RENEWAL_S,
    Application,
    Budget,
    Certificates,
    Routes,
    keep_renewed,
    server_for,
)

REVIEWS_MAX: Final = 8
"""So many reviews of the largest size are read at once."""


class Process:
    """One guard."""

    def __init__(
        self,
        api: Transport,
        prometheus: Prometheus,
        *,
        settings: Settings,
        times: Times,
        log: Log,
        renewal_s: float = RENEWAL_S,
    ) -> None:
        self._settings = settings
        self._log = log
        self._renewal_s = renewal_s
        self.registry = CollectorRegistry()
        clock = times.clock
        self._tables = Tables(
            prometheus,
            [settings.index.metric],
            clock=clock,
            calendar=times.calendar,
            figures=QueryFigures(self.registry),
            log=log,
        )
        values = Values(self._tables, Workloads(api, clock=clock, log=log), clock=clock)
        self.surface = Surface(
            Reviewing(api, Floors(values, settings), settings, log=log),
            figures=Figures(self.registry),
            registry=self.registry,
            clock=clock,
        )

    async def run(self, endpoints: Endpoints, stop: asyncio.Event) -> None:
        """Serve until told to stop."""
        certificates = endpoints.certificates
        servers = [self._calls(certificates)]
        serving = [servers[0].serve(sockets=[endpoints.calls.socket])]
        if endpoints.pages is not None:
            servers.append(self._pages())
            serving.append(servers[1].serve(sockets=[endpoints.pages.socket]))
        async with asyncio.TaskGroup() as group:
            served = [group.create_task(each) for each in serving]
            renewing = None
            if certificates is not None:
                renewing = group.create_task(
                    keep_renewed(certificates, self._log, every_s=self._renewal_s)
                )
            self._log("serving", host=endpoints.calls.host, port=endpoints.calls.port)
            await stop.wait()
            await self._end(servers, served)
            if renewing is not None:
                renewing.cancel()
        self._log("stopped")

    async def _end(self, servers: list[uvicorn.Server], served: list[asyncio.Task[None]]) -> None:
        self._log("stopping")
        # The Service takes a while to learn that we are not ready any more.
        self.surface.is_leaving = True
        await asyncio.sleep(self._settings.deadlines.leave_s)
        for server in servers:
            server.should_exit = True
        await asyncio.wait(served)
        await self._tables.close()

    def _calls(self, certificates: Certificates | None) -> uvicorn.Server:
        application = Application(
            Routes(self.surface.calls()),
            budget=Budget(REVIEWS_MAX * REVIEW_BYTES_MAX),
            tell_bug=self._tell_bug,
        )
        return server_for(
            application,
            tls=None if certificates is None else certificates.context,
            drain_s=self._settings.deadlines.drain_s,
        )

    def _pages(self) -> uvicorn.Server:
        routes = Routes(self.surface.pages())
        return server_for(
            Application(routes, budget=Budget(0), tell_bug=self._tell_bug), drain_s=1.0
        )

    def _tell_bug(self, path: str, bug: Exception) -> None:
        self._log("bug", is_fault=True, where=path, message=repr(bug))
