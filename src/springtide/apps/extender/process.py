"""The process: what follows the cluster, who leads, who is answered, and how it all ends.

It begins to listen at once, and answers once the cluster is known. At the end it takes no new questions,
finishes those it has, has everything written that was decided, and lets another one lead.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Never

import msgspec
import uvicorn
from prometheus_client import CollectorRegistry

from springtide.apps.extender.explaining import Explaining
from springtide.apps.extender.figures import Figures
from springtide.apps.extender.following import Following
from springtide.apps.extender.leading import Alone, BesideScheduler, Elected, Leading, Office
from springtide.apps.extender.log import Log
from springtide.apps.extender.performing import Pace, Performer
from springtide.apps.extender.roles import Roles
from springtide.apps.extender.scheduling import Scheduling, Waits
from springtide.apps.extender.settings import Settings
from springtide.apps.extender.standing import Standing
from springtide.apps.extender.surface import Surface
from springtide.apps.profiles.controller import Controller
from springtide.apps.profiles.figures import Figures as ProfileFigures
from springtide.base.clock import Calendar, Clock
from springtide.edge.cluster import Cluster, Scope
from springtide.edge.serving import (
    Application,
    Budget,
    Certificates,
    Listener,
    Routes,
    everybody,
    keep_renewed,
    peers_alone,
    server_for,
)
from springtide.engine.live import Live


class Times(msgspec.Struct, frozen=True):
    """What tells the time."""

    clock: Clock
    calendar: Calendar


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Where callers are served, and where probes and metrics are besides, if anywhere."""

    calls: Listener
    certificates: Certificates | None = None
    pages: Listener | None = None


class Candidacy(msgspec.Struct, frozen=True, kw_only=True):
    """By which lease it is decided who leads.

    `is_beside` says that the lease is that of the kube-scheduler on the same host, whose name `identity`
    is then; otherwise this process stands for it, and `identity` belongs to this run of it.
    """

    namespace: str
    name: str
    identity: str
    is_beside: bool = True


class Process:
    """One extender."""

    def __init__(
        self,
        cluster: Cluster,
        live: Live,
        *,
        settings: Settings,
        times: Times,
        log: Log,
        candidacy: Candidacy | None = None,
    ) -> None:
        self._settings = settings
        self._log = log
        self._cluster = cluster
        self.registry = CollectorRegistry()
        deadlines, sizes = settings.deadlines, settings.sizes
        self.performer = Performer(
            cluster,
            times.calendar,
            pace=Pace(
                request_s=deadlines.request_s,
                requests_max=sizes.requests,
                commands_max=sizes.commands,
            ),
            component=settings.component,
            log=log,
        )
        self.scheduling = Scheduling(
            live,
            self.performer,
            clock=times.clock,
            calendar=times.calendar,
            waits=Waits(ready_s=deadlines.ready_s, bind_s=deadlines.bind_s),
            figures=Figures(self.registry),
            log=log,
        )
        self.following = Following(cluster, self.scheduling, clock=times.clock, log=log)
        self._leading = self._leading_by(candidacy, times)
        self.registry.register(
            Standing(self.scheduling, self.performer, self.following, times.clock)
        )
        self.surface = Surface(
            self.scheduling,
            self.following,
            explaining=Explaining(
                self.scheduling, self.following, choosing=settings.choosing, log=log
            ),
            settings=settings,
            registry=self.registry,
        )
        self._budget = Budget(sizes.bodies_bytes)
        self.profiles = self._profiles(times) if settings.keeps_profiles else None

    def _profiles(self, times: Times) -> Controller:
        """Return what holds nodes against their device profiles while this process leads."""
        scheduling, settings = self.scheduling, self._settings
        controller = Controller(
            self._cluster,
            scheduling.live.families,
            calendar=times.calendar,
            component=settings.component,
            request_s=settings.deadlines.request_s,
            log=self._log,
        )
        controller.may_act = lambda: (
            scheduling.ready.is_set()
            and scheduling.is_leading
            and scheduling.holds()
            and not scheduling.is_stopping
        )
        self.following.onlookers.append(controller)
        self.registry.register(ProfileFigures(controller))
        return controller

    def _leading_by(self, candidacy: Candidacy | None, times: Times) -> Leading:
        if candidacy is None:
            return Alone(self.scheduling)
        office = Office(
            namespace=candidacy.namespace,
            name=candidacy.name,
            clock=times.clock,
            calendar=times.calendar,
        )
        cluster, scheduling, log = self._cluster, self.scheduling, self._log
        if candidacy.is_beside:
            return BesideScheduler(
                cluster, scheduling, office=office, host=candidacy.identity, log=log
            )
        return Elected(cluster, scheduling, office=office, identity=candidacy.identity, log=log)

    async def run(self, endpoints: Endpoints, stop: asyncio.Event) -> None:
        """Serve until told to stop."""
        certificates = endpoints.certificates
        servers = [self._server(endpoints)]
        serving = [servers[0].serve(sockets=[endpoints.calls.socket])]
        if endpoints.pages is not None:
            servers.append(self._pages())
            serving.append(servers[1].serve(sockets=[endpoints.pages.socket]))
        async with self.performer, asyncio.TaskGroup() as group:
            served = [group.create_task(each) for each in serving]
            background = [group.create_task(each) for each in self._background()]
            if certificates is not None:
                background.append(group.create_task(keep_renewed(certificates, self._log)))
            self._log("serving", host=endpoints.calls.host, port=endpoints.calls.port)
            await stop.wait()
            await self._end(servers, served, background)

    def _background(self) -> list[Coroutine[object, object, Never]]:
        work = [self.following.run(), self._leading.run()]
        if self.profiles is not None:
            work.append(self.profiles.run())
        settings = self._settings
        if settings.pod_name and settings.pod_namespace:
            scope = Scope(namespace=settings.pod_namespace, labels=settings.replica_labels)
            roles = Roles(
                self._cluster,
                self.scheduling,
                self.performer,
                own=settings.pod_name,
                scope=scope,
                log=self._log,
            )
            work.append(roles.run())
        return work

    async def _end(
        self,
        servers: list[uvicorn.Server],
        served: list[asyncio.Task[None]],
        background: list[asyncio.Task[Never]],
    ) -> None:
        self._log("stopping", binds=self.scheduling.binds, commands=self.performer.waiting)
        # Webhooks are called by way of a Service, which takes a while to learn that we are not ready.
        self.scheduling.is_leaving = True
        await asyncio.sleep(self._settings.deadlines.leave_s)
        self.scheduling.is_stopping = True
        for server in servers:
            server.should_exit = True
        await asyncio.wait(served)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.deadlines.drain_s):
                await self.performer.idle()
        await self._leading.release()
        for task in background:
            task.cancel()
        self._log("stopped")

    def _server(self, endpoints: Endpoints) -> uvicorn.Server:
        application = Application(
            Routes(self.surface.calls()),
            budget=self._budget,
            tell_bug=self._tell_bug,
            guard=peers_alone if self._settings.needs_client_certificate else everybody,
        )
        certificates = endpoints.certificates
        return server_for(
            application,
            tls=None if certificates is None else certificates.context,
            drain_s=self._settings.deadlines.drain_s,
        )

    def _pages(self) -> uvicorn.Server:
        application = Application(
            Routes(self.surface.pages()), budget=self._budget, tell_bug=self._tell_bug
        )
        return server_for(application, drain_s=1.0)

    def _tell_bug(self, path: str, bug: Exception) -> None:
        self._log("bug", is_fault=True, where=path, message=repr(bug))
