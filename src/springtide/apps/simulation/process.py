"""The server of the simulation: what it learns, whom it lets in, and how it ends.

It is ready as soon as it knows the profiles; nobody leads, and every replica answers. It is given nothing
that could write to a cluster: what follows profiles, and what asks whose a token is, and no more.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, Never

import msgspec
import uvicorn
from prometheus_client import CollectorRegistry

from springtide.apps.simulation.access import Doorkeeper, Review, Times
from springtide.apps.simulation.answering import Readiness
from springtide.apps.simulation.figures import Standing
from springtide.apps.simulation.learning import Follow, Learning
from springtide.apps.simulation.service import Lanes, MakeRules
from springtide.apps.simulation.settings import Settings
from springtide.apps.simulation.surface import MakeName, Surface
from springtide.edge.lines import Log
from springtide.edge.serving import (
    Application,
    Budget,
    Certificates,
    Listener,
    Routes,
    keep_renewed,
    server_for,
)
from springtide.edge.serving.probes import Check
from springtide.model.profile import DeviceProfile

EXPIRY_S: Final = 10.0
"""So often sessions are ended that nobody uses."""


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """Where callers are served, and where probes and metrics are besides, if anywhere."""

    calls: Listener
    certificates: Certificates
    pages: Listener | None = None


class Process:
    """One server."""

    def __init__(
        self,
        make: MakeRules,
        *,
        settings: Settings,
        times: Times,
        make_name: MakeName,
        log: Log,
        review: Review | None = None,
    ) -> None:
        self._settings = settings
        self._times = times
        self._log = log
        self.registry = CollectorRegistry()
        self.ready = asyncio.Event()
        self._is_leaving = False
        self.lanes = Lanes(make, times.clock, waiting_max=settings.limits.waiting)
        self.learning = Learning(self._learn, log=log)
        self.surface = Surface(
            self.lanes,
            limits=settings.limits,
            times=times,
            make_name=make_name,
            readiness=Readiness(whole=self.ready, checks=self._checks),
            registry=self.registry,
            log=log,
        )
        self.registry.register(
            Standing(
                self.lanes.sessions,
                waiting=self.lanes.waiting,
                profiles=lambda: len(self.lanes.profiles),
            )
        )
        self._guard = Doorkeeper(settings.access, times, review=review)
        self._budget = Budget(settings.limits.bodies_bytes)

    async def run(
        self,
        where: Where,
        stop: asyncio.Event,
        *,
        profiles: tuple[DeviceProfile, ...] = (),
        follow: Follow | None = None,
    ) -> None:
        """Serve until told to stop; profiles are those given, or those that are followed."""
        servers = [self._server(where)]
        serving = [servers[0].serve(sockets=[where.calls.socket])]
        if where.pages is not None:
            servers.append(self._pages())
            serving.append(servers[1].serve(sockets=[where.pages.socket]))
        try:
            async with asyncio.TaskGroup() as group:
                served = [group.create_task(each) for each in serving]
                background = [
                    group.create_task(each)
                    for each in self._background(where.certificates, profiles, follow)
                ]
                self._log("simulating", host=where.calls.host, port=where.calls.port)
                await stop.wait()
                self._log("stopping")
                self._is_leaving = True
                await asyncio.sleep(self._settings.limits.leave_s)
                for server in servers:
                    server.should_exit = True
                await asyncio.wait(served)
                for task in background:
                    task.cancel()
        finally:
            self.lanes.end()
        self._log("stopped")

    def _background(
        self,
        certificates: Certificates,
        profiles: tuple[DeviceProfile, ...],
        follow: Follow | None,
    ) -> list[Coroutine[Any, Any, None] | Coroutine[Any, Any, Never]]:
        learning = self._learn(profiles) if follow is None else self.learning.run(follow)
        return [learning, keep_renewed(certificates, self._log), self._expire()]

    async def _learn(self, profiles: tuple[DeviceProfile, ...]) -> None:
        await self.lanes.learn(profiles)
        used = self.lanes.profiles
        left_out = sorted(each.name for each in profiles if each not in used)
        self._log("profiles", count=len(used), left_out=left_out)
        self.ready.set()

    def _checks(self) -> tuple[Check, ...]:
        unknown = self.learning.fault or "the device profiles have not been read yet"
        return (
            Check(name="ping"),
            Check(name="profiles", why="" if self.ready.is_set() else unknown),
            Check(name="shutdown", why="the process is shutting down" if self._is_leaving else ""),
        )

    def _server(self, where: Where) -> uvicorn.Server:
        application = Application(
            Routes(self.surface.calls()),
            budget=self._budget,
            tell_bug=self._tell_bug,
            guard=self._guard,
        )
        drain_s = self._settings.limits.drain_s
        return server_for(application, tls=where.certificates.context, drain_s=drain_s)

    def _pages(self) -> uvicorn.Server:
        application = Application(
            Routes(self.surface.pages()), budget=self._budget, tell_bug=self._tell_bug
        )
        return server_for(application, drain_s=1.0)

    def _tell_bug(self, path: str, bug: Exception) -> None:
        self._log("bug", is_fault=True, where=path, message=repr(bug))

    async def _expire(self) -> Never:
        while True:
            await asyncio.sleep(EXPIRY_S)
            await self.lanes.expire(self._times.clock.monotonic_s())
