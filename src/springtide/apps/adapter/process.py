"""The process: who may call is known before anybody is let in, and the end lets answers finish.

It is ready without Prometheus: a server that is up and refuses single metrics does less harm to a cluster
than one that is not there.
"""

import asyncio
from collections.abc import Coroutine
from typing import Never

import msgspec
import uvicorn
from prometheus_client import CollectorRegistry

from springtide.apps.adapter.figures import Figures
from springtide.apps.adapter.identity import Identity
from springtide.apps.adapter.permission import Permission
from springtide.apps.adapter.settings import Settings
from springtide.apps.adapter.surface import Surface, in_status
from springtide.apps.adapter.tables import Tables
from springtide.apps.adapter.upstream import Upstream
from springtide.apps.adapter.values import Values
from springtide.apps.adapter.workloads import Workloads
from springtide.base.clock import Calendar, Clock
from springtide.edge.kube.transport import Transport
from springtide.edge.lines import Log
from springtide.edge.prometheus import Prometheus
from springtide.edge.serving import (
    Application,
    Budget,
    Certificates,
    Listener,
    Routes,
    keep_renewed,
    server_for,
)


class Times(msgspec.Struct, frozen=True):
    """What tells the time."""

    clock: Clock
    calendar: Calendar


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Where callers are served, and where probes and metrics are besides, if anywhere."""

    calls: Listener
    certificates: Certificates | None = None
    pages: Listener | None = None


class Process:
    """One adapter."""

    def __init__(
        self,
        api: Transport,
        prometheus: Prometheus,
        *,
        settings: Settings,
        times: Times,
        log: Log,
        upstream: Upstream | None = None,
    ) -> None:
        self._settings = settings
        self._log = log
        self.registry = CollectorRegistry()
        figures = Figures(self.registry)
        clock, calendar = times.clock, times.calendar
        self.tables = Tables(
            prometheus,
            [each.metric for each in settings.served],
            clock=clock,
            calendar=calendar,
            figures=figures,
            log=log,
        )
        self.identity = Identity(api, clock=clock, log=log)
        self.surface = Surface(
            settings,
            identity=self.identity,
            permission=Permission(api, clock=clock),
            values=Values(self.tables, Workloads(api, clock=clock, log=log), clock=clock),
            upstream=upstream,
            figures=figures,
            registry=self.registry,
            clock=clock,
            calendar=calendar,
            log=log,
        )

    async def run(self, endpoints: Endpoints, stop: asyncio.Event) -> None:
        """Serve until told to stop; raises ClusterFault if it cannot be known who may call."""
        certificates = endpoints.certificates
        if self._settings.knows_front_proxy:
            await self.identity.read_front_proxy(certificates)
        servers = [self._calls(certificates)]
        serving = [servers[0].serve(sockets=[endpoints.calls.socket])]
        if endpoints.pages is not None:
            servers.append(self._pages())
            serving.append(servers[1].serve(sockets=[endpoints.pages.socket]))
        async with asyncio.TaskGroup() as group:
            served = [group.create_task(each) for each in serving]
            background = [group.create_task(each) for each in self._background(certificates)]
            self._log("serving", host=endpoints.calls.host, port=endpoints.calls.port)
            await stop.wait()
            await self._end(servers, served)
            for task in background:
                task.cancel()
        self._log("stopped")

    def _background(
        self, certificates: Certificates | None
    ) -> list[Coroutine[object, object, Never]]:
        work: list[Coroutine[object, object, Never]] = [self.tables.look()]
        if self._settings.knows_front_proxy:
            work.append(self.identity.follow_front_proxy(certificates))
        if certificates is not None:
            work.append(keep_renewed(certificates, self._log))
        return work

    async def _end(self, servers: list[uvicorn.Server], served: list[asyncio.Task[None]]) -> None:
        self._log("stopping")
        # The Service takes a while to learn that we are not ready any more.
        self.surface.is_leaving = True
        await asyncio.sleep(self._settings.deadlines.leave_s)
        for server in servers:
            server.should_exit = True
        await asyncio.wait(served)
        await self.tables.close()

    def _calls(self, certificates: Certificates | None) -> uvicorn.Server:
        application = Application(
            Routes(self.surface.calls()),
            budget=Budget(0),
            tell_bug=self._tell_bug,
            refuse=in_status,
        )
        return server_for(
            application,
            tls=None if certificates is None else certificates.context,
            drain_s=self._settings.deadlines.drain_s,
        )

    def _pages(self) -> uvicorn.Server:
        application = Application(
            Routes(self.surface.pages()), budget=Budget(0), tell_bug=self._tell_bug
        )
        return server_for(application, drain_s=1.0)

    def _tell_bug(self, path: str, bug: Exception) -> None:
        self._log("bug", is_fault=True, where=path, message=repr(bug))
