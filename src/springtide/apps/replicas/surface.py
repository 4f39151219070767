"""What is behind each path of a member: pages from a snapshot, and orders for the controller."""

import hmac
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from springtide.apps.replicas import endpoints
from springtide.apps.replicas.pages import member_page, status_page
from springtide.edge.http import Unusable, bearer
from springtide.edge.lines import Log
from springtide.edge.serving import Asked, Check, Limits, Reply, Route, in_words, probe
from springtide.edge.store import StoreFault
from springtide.model.replicas.rules import REPLICAS_MAX, Schedule
from springtide.replicas import NotLeading, ReplicaController
from springtide.replicas.stopping import drain
from springtide.wire.openapi import Endpoint
from springtide.wire.replica_pages import (
    OrderAsked,
    RecoveredAsked,
    ReleaseAsked,
    Said,
    ScheduleAsked,
    ShutdownAsked,
    ThawAsked,
)

BODY: Final = Limits(size_max=64 << 10, time_s_max=10.0)
PRESTOP_S: Final = 60.0
PRESTOP_S_MAX: Final = 24 * 3600.0
SECONDS_MAX: Final = 24 * 3600.0
FOLLOWED_S_MAX: Final = 60.0
"""So long after the store last confirmed anything is a member still ready to be asked."""

T = TypeVar("T")


class Surface:
    """Answers the calls of one member."""

    def __init__(
        self,
        controller: ReplicaController,
        configuration: object,
        *,
        registry: CollectorRegistry,
        token_file: str,
        prestop_on_metrics: bool,
        log: Log,
    ) -> None:
        self._controller = controller
        self.configuration = configuration
        self.registry = registry
        self._token_file = token_file
        self._prestop_on_metrics = prestop_on_metrics
        self._log = log

    def calls(self) -> tuple[Route, ...]:
        """Return what operators call."""
        return (
            Route(endpoint=endpoints.STATUS, answer=self._status),
            Route(endpoint=endpoints.MEMBERS, answer=self._members),
            Route(endpoint=endpoints.CONFIGURATION, answer=self._configuration),
            Route(endpoint=endpoints.PRESTOP, answer=self._prestop),
            self._order(endpoints.REPLICAS, OrderAsked, self._replicas),
            self._order(endpoints.SCHEDULE, ScheduleAsked, self._schedule),
            self._order(endpoints.SHUTDOWN, ShutdownAsked, self._shutdown),
            self._order(endpoints.RELEASE, ReleaseAsked, self._release),
            self._order(endpoints.THAW, ThawAsked, self._thaw),
            self._order(endpoints.RECOVERED, RecoveredAsked, self._recovered),
            *self.pages(has_prestop=False),
        )

    def pages(self, *, has_prestop: bool | None = None) -> tuple[Route, ...]:
        """Return probes and metrics, and the hook before a stop where it is wanted there."""
        wants_prestop = self._prestop_on_metrics if has_prestop is None else has_prestop
        prestop = Route(endpoint=endpoints.PRESTOP, answer=self._prestop)
        return (
            *(
                Route(endpoint=each, answer=partial(self._probe, each.path[1:]))
                for each in (endpoints.HEALTHZ, endpoints.LIVEZ, endpoints.READYZ)
            ),
            Route(endpoint=endpoints.VERSION, answer=_version),
            Route(endpoint=endpoints.METRICS, answer=self._metrics),
            Route(endpoint=endpoints.OPENAPI, answer=_openapi),
            *((prestop,) if wants_prestop else ()),
        )

    async def guard(self, route: Route, asked: Asked) -> str | Reply:
        """Let those in who show the token, and everybody to probes."""
        if route.endpoint.is_public or not self._token_file:
            return ""
        try:
            wanted = bearer(self._token_file)["Authorization"]
        except Unusable as fault:
            self._log("token_unreadable", is_fault=True, why=str(fault))
            return in_words("The token of this member cannot be read; see its log.", 503)
        shown = asked.header("authorization")
        if not hmac.compare_digest(shown.encode(), wanted.encode()):
            return in_words("Show the token: Authorization: Bearer …", 401)
        return ""

    async def _status(self, _asked: Asked) -> Reply:
        return Reply(body=msgspec.json.encode(status_page(self._controller.snapshot())))

    async def _members(self, asked: Asked) -> Reply:
        mode, service = _one(asked, "mode") or "ready", _one(asked, "service")
        if mode not in {"ready", "target", "all"}:
            return in_words(f'"{mode}" is no mode; ask for ready, target or all.', 400)
        found = [
            member_page(each)
            for each in self._controller.everybody()
            if (not service or each.service == service)
            and (mode == "all" or (each.is_target if mode == "target" else each.is_ready))
        ]
        return Reply(body=msgspec.json.encode(found))

    async def _configuration(self, _asked: Asked) -> Reply:
        return Reply(body=msgspec.json.encode(self.configuration))

    async def _prestop(self, asked: Asked) -> Reply:
        timeout_s = _seconds(_one(asked, "timeout") or f"{PRESTOP_S}")
        if timeout_s is None:
            return in_words(f"timeout has to be seconds from 0 to {PRESTOP_S_MAX:g}.", 400)
        if await drain(self._controller, timeout_s=timeout_s):
            return in_words("drained", 200)
        return in_words("This member still holds something, and goes on draining.", 504)

    async def _replicas(self, asked: OrderAsked) -> str:
        if asked.replicas is not None and not 1 <= asked.replicas <= REPLICAS_MAX:
            raise ValueError(
                f"replicas: {asked.replicas} cannot be; write 1 to {REPLICAS_MAX}, or null to take "
                "the order back."
            )
        await self._controller.orders.replicas(asked.replicas, is_forced=asked.force)
        if asked.replicas is None:
            return "The order is taken back: the load decides again."
        return f"{asked.replicas} replicas are ordered, within the bounds."

    async def _schedule(self, asked: ScheduleAsked) -> str:
        times = (asked.start_seconds, asked.end_seconds, asked.scaling_seconds)
        for name, each in zip(("startSeconds", "endSeconds", "scalingSeconds"), times, strict=True):
            _check_seconds(name, each)
        start, end, scaling = (int(each * 1000) for each in times)
        schedule = Schedule(start_delay_ms=start, period_ms=end, scaling_delay_ms=scaling)
        await self._controller.orders.reschedule(schedule)
        return "The running round comes no earlier than that."

    async def _shutdown(self, asked: ShutdownAsked) -> str:
        _check_seconds("inSeconds", asked.in_seconds)
        self._controller.orders.shutdown(asked.in_seconds)
        return f"This member leaves in {asked.in_seconds:g} s."

    async def _release(self, asked: ReleaseAsked) -> str:
        _check_operator(asked.operator)
        return await self._controller.orders.release(asked.index, operator=asked.operator)

    async def _thaw(self, asked: ThawAsked) -> str:
        _check_operator(asked.operator)
        self._controller.orders.thaw()
        return f"{asked.operator} lets the workload shrink again."

    async def _recovered(self, asked: RecoveredAsked) -> str:
        await self._controller.declare_recovered(holds_state=asked.holds_state)
        return "It is written down."

    def _order(
        self, endpoint: Endpoint, kind: type[T], answer: Callable[[T], Awaitable[str]]
    ) -> Route:
        async def ordered(asked: Asked) -> Reply:
            try:
                said = await answer(msgspec.json.decode(bytes(asked.body or b"{}"), type=kind))
            except (msgspec.DecodeError, ValueError) as fault:
                return in_words(str(fault), 400)
            except NotLeading as fault:
                return in_words(str(fault), 409)
            except StoreFault as fault:
                return in_words(f"The store did not do it: {fault}", 503)
            self._log("ordered", path=endpoint.path, message=said)
            return Reply(body=msgspec.json.encode(Said(message=said)))

        return Route(endpoint=endpoint, answer=ordered, limits=BODY)

    async def _probe(self, name: str, asked: Asked) -> Reply:
        checks = [Check(name="ping")]
        if name == "readyz":
            found = self._controller.snapshot()
            age_s = found.status_age_s(found.at_ms)
            is_away = age_s is None or age_s > FOLLOWED_S_MAX
            checks.append(Check(name="store", why="the store is not heard" if is_away else ""))
        return probe(checks, name, asked)

    async def _metrics(self, _asked: Asked) -> Reply:
        return Reply(body=generate_latest(self.registry), content_type=CONTENT_TYPE_LATEST)


async def _version(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(endpoints.Version()))


async def _openapi(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(endpoints.openapi()))


def _one(asked: Asked, name: str) -> str:
    return asked.query.get(name, [""])[0]


def _seconds(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found <= PRESTOP_S_MAX else None


def _check_operator(name: str) -> None:
    if not name:
        raise ValueError("operator: somebody has to answer for it; write who.")


def _check_seconds(name: str, value: float) -> None:
    if not 0 <= value <= SECONDS_MAX:
        raise ValueError(f"{name}: {value:g} cannot be; write seconds from 0 to {SECONDS_MAX:g}.")
