"""What is behind each path: requests to calls of the service, and pages about the server itself."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry, generate_latest

from springtide import __version__
from springtide.apps.extender.device_metrics import CONTENT_TYPE
from springtide.apps.extender.endpoints import Version
from springtide.apps.extender.probes import liveness
from springtide.apps.sessions import Moment, Service, failed
from springtide.apps.sessions import Reply as Answer
from springtide.apps.simulation import endpoints
from springtide.apps.simulation.access import Times
from springtide.apps.simulation.answering import Answering, Readiness, Work
from springtide.apps.simulation.figures import Figures
from springtide.apps.simulation.refusing import in_result
from springtide.apps.simulation.service import Lanes
from springtide.apps.simulation.settings import Limits
from springtide.edge.lines import Log
from springtide.edge.serving import Asked, Reply, Route
from springtide.edge.serving.probes import Check, probe
from springtide.wire.simulation import ErrorClass
from springtide.wire.simulation.calls import DynamicFields

MakeName = Callable[[], str]
"""Makes up the name of a session, which nobody can guess."""

DYNAMIC: Final = "dynamicFields"


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
        self._times = times
        self._make_name = make_name
        self._registry = registry
        self._readiness = readiness
        self._answering = Answering(
            limits, times.clock, readiness=readiness, figures=Figures(registry), log=log
        )

    def calls(self) -> tuple[Route, ...]:
        """Return the routes of callers, the pages included."""
        named = {"fork", "revert", "commit"}
        return (
            self._answering.route(endpoints.FILTER, self._filter, in_result),
            self._answering.route(
                endpoints.ESTIMATE, lambda asked: self._lanes.estimate(asked.body)
            ),
            self._answering.route(endpoints.OPEN, self._open),
            self._answering.route(endpoints.GET, self._content),
            self._answering.route(endpoints.CLOSE, self._close),
            self._answering.route(endpoints.EVALUATE, self._calling("evaluate")),
            *(
                self._answering.route(endpoint, self._calling(verb), is_small=verb in named)
                for verb, endpoint in endpoints.CHANGES.items()
            ),
            self._answering.page(endpoints.OPENAPI, _openapi),
            *self.pages(),
        )

    def pages(self) -> tuple[Route, ...]:
        """Return the routes of probes and metrics."""
        return (
            self._answering.page(endpoints.HEALTHZ, _probe(liveness, "healthz")),
            self._answering.page(endpoints.LIVEZ, _probe(liveness, "livez")),
            self._answering.page(endpoints.READYZ, _probe(self._readiness.checks, "readyz")),
            self._answering.page(endpoints.VERSION, _version),
            self._answering.page(endpoints.METRICS, self._metrics),
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

    async def _metrics(self, _asked: Asked) -> Reply:
        return Reply(body=generate_latest(self._registry), content_type=CONTENT_TYPE)


def _probe(
    checks: Callable[[], tuple[Check, ...]], name: str
) -> Callable[[Asked], Awaitable[Reply]]:
    async def answer(asked: Asked) -> Reply:
        return probe(checks(), name, asked)

    return answer


async def _version(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(Version(__version__)))


async def _openapi(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(endpoints.openapi()))
