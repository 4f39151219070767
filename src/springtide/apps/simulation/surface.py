"""What is behind each path: requests to calls of the service within their time, answers to replies.

Every request is counted and told once, whoever answers it: who asked, about which pod and how many nodes,
what came of it and how long it took. What pods and nodes say of themselves is never told.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec.structs import replace
from prometheus_client import CollectorRegistry, generate_latest

from springtide import __version__
from springtide.apps.extender.device_metrics import CONTENT_TYPE
from springtide.apps.extender.endpoints import Version
from springtide.apps.extender.probes import Check, liveness, told
from springtide.apps.sessions import Moment, Service, Tally, failed
from springtide.apps.sessions import Reply as Answer
from springtide.apps.simulation import endpoints
from springtide.apps.simulation.access import retry_after
from springtide.apps.simulation.figures import Figures
from springtide.apps.simulation.lanes import RETRY_S, LaneFull
from springtide.apps.simulation.refusing import in_problem, in_result, sent
from springtide.apps.simulation.service import Lanes
from springtide.apps.simulation.settings import Limits
from springtide.base.clock import Calendar, Clock
from springtide.base.durations import SECOND_NS, MalformedDuration, parse_duration_ns
from springtide.base.errors import SpringtideError
from springtide.edge.lines import Log
from springtide.edge.serving import Asked, Reply, Route
from springtide.edge.serving import Limits as BodyLimits
from springtide.wire.openapi import TEXT, Endpoint
from springtide.wire.simulation import ErrorClass
from springtide.wire.simulation.calls import DynamicFields

Work = Callable[[Asked], Awaitable[Answer]]
Word = Callable[[str, int, Callable[[str], None]], Reply]
MakeName = Callable[[], str]
"""Makes up the name of a session, which nobody can guess."""

NOTHING: Final = Tally()
SMALL_BODY_BYTES: Final = 1 << 16
"""Calls that say no more than which change they are."""


DYNAMIC: Final = "dynamicFields"


class InvalidHead(SpringtideError):
    """What is said beside the body makes no sense."""


class Times(msgspec.Struct, frozen=True):
    """What tells the time."""

    clock: Clock
    calendar: Calendar


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether everything is known that answers depend on: calls wait for `whole`, probes see the checks."""

    whole: asyncio.Event
    checks: Callable[[], tuple[Check, ...]]


class Surface:
    """Answers the calls of one server."""

    def __init__(
        self,
        lanes: Lanes,
        *,
        limits: Limits,
        times: Times,
        make_name: MakeName,
        readiness: Readiness,
        registry: CollectorRegistry,
        log: Log,
    ) -> None:
        self._lanes = lanes
        self._limits = limits
        self._times = times
        self._make_name = make_name
        self._registry = registry
        self._log = log
        self.figures = Figures(registry)
        self._readiness = readiness

    def calls(self) -> tuple[Route, ...]:
        """Return the routes of callers, the pages included."""
        named = {"fork", "revert", "commit"}
        return (
            self._route(endpoints.FILTER, self._filter, in_result),
            self._route(endpoints.ESTIMATE, lambda asked: self._lanes.estimate(asked.body)),
            self._route(endpoints.OPEN, self._open),
            self._route(endpoints.GET, self._content),
            self._route(endpoints.CLOSE, self._close),
            self._route(endpoints.EVALUATE, self._calling("evaluate")),
            *(
                self._route(endpoint, self._calling(verb), is_small=verb in named)
                for verb, endpoint in endpoints.CHANGES.items()
            ),
            self._page(endpoints.OPENAPI, _openapi),
            *self.pages(),
        )

    def pages(self) -> tuple[Route, ...]:
        """Return the routes of probes and metrics."""
        return (
            self._page(endpoints.HEALTHZ, _probe(liveness, "healthz")),
            self._page(endpoints.LIVEZ, _probe(liveness, "livez")),
            self._page(endpoints.READYZ, _probe(self._readiness.checks, "readyz")),
            self._page(endpoints.VERSION, _version),
            self._page(endpoints.METRICS, self._metrics),
        )

    # ---- how a call is answered

    def _route(
        self,
        endpoint: Endpoint,
        work: Work,
        word: Word = in_problem,
        *,
        is_small: bool = False,
    ) -> Route:
        async def answer(asked: Asked) -> Reply:
            return await self._answered(endpoint, asked, work, word)

        def refuse(why: str, status: int) -> Reply:
            return word(why, status, lambda outcome: self._refused(endpoint, outcome, why))

        size = SMALL_BODY_BYTES if is_small else self._limits.body_bytes
        limits = BodyLimits(size_max=size, time_s_max=self._limits.body_s)
        return Route(
            endpoint=endpoint,
            answer=answer,
            limits=None if endpoint.body is None else limits,
            refuse=refuse,
            crowded=lambda why, _: _later(refuse(why, 429)),
        )

    async def _answered(self, endpoint: Endpoint, asked: Asked, work: Work, word: Word) -> Reply:
        begun_s = self._times.clock.monotonic_s()

        def tell(outcome: str, tally: Tally = NOTHING) -> None:
            took_s = self._times.clock.monotonic_s() - begun_s
            self._tell(endpoint, asked, outcome, tally, took_s)

        try:
            timeout_s = self._timeout_s(asked)
        except InvalidHead as fault:
            return word(str(fault), 400, tell)
        try:
            async with asyncio.timeout(timeout_s):
                await self._readiness.whole.wait()
                made = await work(asked)
        except LaneFull as fault:
            return _later(word(str(fault), 429, tell))
        except TimeoutError:
            why = f"the answer took longer than {timeout_s:g} s; ask about less, or wait longer."
            return word(why, 504, tell)
        tell(made.outcome, made.tally)
        return sent(made)

    def _timeout_s(self, asked: Asked) -> float:
        """Return how long the call may take: as long as we let it, or less if the caller says so."""
        text = asked.header(endpoints.TIMEOUT)
        if not text:
            return self._limits.request_s
        try:
            wanted_s = float(text) if text.isdecimal() else parse_duration_ns(text) / SECOND_NS
        except MalformedDuration as fault:
            raise InvalidHead(f"X-Request-Timeout: {fault}; write it like 500ms or 3s.") from fault
        if wanted_s <= 0:
            raise InvalidHead(f"X-Request-Timeout: {text} is no time at all; write more.")
        return min(wanted_s, self._limits.request_s)

    def _tell(
        self, endpoint: Endpoint, asked: Asked, outcome: str, tally: Tally, took_s: float
    ) -> None:
        is_stateless = endpoint is endpoints.FILTER
        self.figures.answered(
            endpoint.path, outcome, took_s=took_s, tally=tally, is_stateless=is_stateless
        )
        self._log(
            "simulated",
            client=asked.client,
            method=endpoint.method,
            endpoint=endpoint.path,
            session=asked.values.get("id", ""),
            pod=tally.pod,
            pods=tally.pods,
            nodes=tally.nodes,
            outcome=outcome,
            took_ms=round(took_s * 1e3, 3),
        )

    def _refused(self, endpoint: Endpoint, outcome: str, why: str) -> None:
        self.figures.refused(endpoint.path, outcome)
        self._log(
            "refused", method=endpoint.method, endpoint=endpoint.path, outcome=outcome, message=why
        )

    # ---- the calls

    async def _filter(self, asked: Asked) -> Answer:
        said = asked.query.get(DYNAMIC, [DynamicFields.RESET])[-1]
        if said not in [*DynamicFields]:
            known = ", ".join(DynamicFields)
            why = f'{DYNAMIC} is "{said}"; there are {known}'
            return Answer(body=b"".join(failed(ErrorClass.INVALID, why).pieces), outcome="Invalid")
        keeps = said == DynamicFields.KEEP
        return await self._lanes.filter(asked.body, keeps_dynamic=keeps)

    async def _open(self, asked: Asked) -> Answer:
        name, at = self._make_name(), self._at()
        return await self._lanes.session(
            lambda service: service.open(asked.client, name, asked.body, at)
        )

    def _calling(self, verb: str) -> Work:
        async def called(asked: Asked) -> Answer:
            at = self._at()
            return await self._lanes.session(
                lambda service: service.call(asked.client, asked.values["id"], verb, asked.body, at)
            )

        return called

    async def _content(self, asked: Asked) -> Answer:
        at = self._at()

        def content(service: Service) -> Answer:
            return service.content(asked.client, asked.values["id"], at)

        return await self._lanes.session(content)

    async def _close(self, asked: Asked) -> Answer:
        at = self._at()

        def close(service: Service) -> Answer:
            return service.close(asked.client, asked.values["id"], at)

        return await self._lanes.session(close)

    def _at(self) -> Moment:
        return Moment(
            elapsed_s=self._times.clock.monotonic_s(), unix_s=self._times.calendar.unix_s()
        )

    # ---- pages

    def _page(self, endpoint: Endpoint, answer: Callable[[Asked], Awaitable[Reply]]) -> Route:
        def refuse(why: str, status: int) -> Reply:
            return in_problem(why, status, lambda outcome: self._refused(endpoint, outcome, why))

        return Route(endpoint=endpoint, answer=answer, refuse=refuse)

    async def _metrics(self, _asked: Asked) -> Reply:
        return Reply(body=generate_latest(self._registry), content_type=CONTENT_TYPE)


def _later(reply: Reply) -> Reply:
    return replace(reply, headers=(*reply.headers, retry_after(RETRY_S)))


def _probe(
    checks: Callable[[], tuple[Check, ...]], name: str
) -> Callable[[Asked], Awaitable[Reply]]:
    async def answer(asked: Asked) -> Reply:
        is_good, text = told(checks(), name, is_verbose="verbose" in asked.query)
        return Reply(body=text.encode(), status=200 if is_good else 503, content_type=TEXT)

    return answer


async def _version(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(Version(__version__)))


async def _openapi(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(endpoints.openapi()))
