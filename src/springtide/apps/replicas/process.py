"""One member as a process beside its application: it follows, is served, and ends when it is drained."""

import asyncio
from typing import Final

import msgspec
import uvicorn

from springtide.apps.replicas.application import Application as Applied
from springtide.apps.replicas.surface import Surface
from springtide.edge.lines import Log
from springtide.edge.serving import (
    Application,
    Budget,
    Guard,
    Listener,
    Route,
    Routes,
    everybody,
    server_for,
)
from springtide.replicas import ReplicaController
from springtide.replicas.stopping import until_told

BODIES_BYTES: Final = 1 << 20


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Where operators are served, and where probes and metrics are, if anywhere."""

    calls: Listener
    pages: Listener | None = None


class Process:
    """One member."""

    def __init__(
        self,
        controller: ReplicaController,
        application: Applied,
        surface: Surface,
        *,
        grace_s: float | None,
        log: Log,
    ) -> None:
        self._controller = controller
        self._application = application
        self._surface = surface
        self._grace_s = grace_s
        self._log = log

    async def run(self, endpoints: Endpoints) -> bool:
        """Serve until told to stop and drained; return whether it was drained."""
        servers = [self._server(self._surface.calls(), self._surface.guard)]
        sockets = [endpoints.calls.socket]
        if endpoints.pages is not None:
            servers.append(self._server(self._surface.pages(), everybody))
            sockets.append(endpoints.pages.socket)
        async with asyncio.TaskGroup() as group:
            for server, socket in zip(servers, sockets, strict=True):
                group.create_task(server.serve(sockets=[socket]))
            news = group.create_task(self._application.run())
            await self._controller.start()
            self._log("serving", host=endpoints.calls.host, port=endpoints.calls.port)
            was_drained = await until_told(self._controller, grace_s=self._grace_s)
            for server in servers:
                server.should_exit = True
            news.cancel()
        self._log("stopped", was_drained=was_drained)
        return was_drained

    def _server(self, routes: tuple[Route, ...], guard: Guard) -> uvicorn.Server:
        application = Application(
            Routes(routes),
            budget=Budget(BODIES_BYTES),
            tell_bug=self._tell_bug,
            guard=guard,
        )
        return server_for(application, drain_s=1.0)

    def _tell_bug(self, path: str, bug: Exception) -> None:
        self._log("bug", is_fault=True, where=path, message=repr(bug))
