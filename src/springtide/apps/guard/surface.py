"""What is behind each path: bytes to questions, verdicts to bytes."""

from functools import partial
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from springtide.apps.guard import endpoints
from springtide.apps.guard.figures import Figures
from springtide.apps.guard.reviewing import Reviewing
from springtide.base.clock import Clock
from springtide.edge.serving import Asked, Check, Limits, Reply, Route, probe
from springtide.wire import admission
from springtide.wire.errors import DocumentFault, MalformedObject

REVIEW_BYTES_MAX: Final = 8 << 20
"""An object has at most 1.5 MiB where it is stored, and a review holds it twice."""
REVIEW_S_MAX: Final = 10.0
UNREADABLE: Final = 400


class Surface:
    """Answers the calls of one process."""

    def __init__(
        self,
        reviewing: Reviewing,
        *,
        figures: Figures,
        registry: CollectorRegistry,
        clock: Clock,
    ) -> None:
        self._reviewing = reviewing
        self._figures = figures
        self._registry = registry
        self._clock = clock
        self.is_leaving = False

    def calls(self) -> tuple[Route, ...]:
        """Return the routes of API servers, beside the probes."""
        limits = Limits(size_max=REVIEW_BYTES_MAX, time_s_max=REVIEW_S_MAX)
        return (
            Route(endpoint=endpoints.VALIDATE, answer=self._review, limits=limits, refuse=_fault),
            *self._probes(),
        )

    def pages(self) -> tuple[Route, ...]:
        """Return the routes of probes and metrics."""
        return (*self._probes(), Route(endpoint=endpoints.METRICS, answer=self._metrics))

    def _probes(self) -> tuple[Route, ...]:
        return tuple(
            Route(endpoint=each, answer=partial(self._probe, each.path[1:]))
            for each in endpoints.PROBES
        )

    async def _review(self, asked: Asked) -> Reply:
        begun_s = self._clock.monotonic_s()
        try:
            question = admission.read_scaling(bytes(asked.body))
        except (DocumentFault, MalformedObject) as fault:
            self._figures.reviewed("malformed", self._clock.monotonic_s() - begun_s)
            return _fault(f"This review cannot be understood: {fault}", UNREADABLE)
        found = await self._reviewing.review(question)
        self._figures.reviewed(found.outcome, self._clock.monotonic_s() - begun_s)
        if found.message:
            return Reply(body=admission.refused(question.review, found.message))
        return Reply(body=admission.allowed(question.review))

    async def _probe(self, name: str, asked: Asked) -> Reply:
        checks = [Check(name="ping")]
        if name == "readyz":
            stopping = "the process is shutting down" if self.is_leaving else ""
            checks.append(Check(name="shutdown", why=stopping))
        return probe(checks, name, asked)

    async def _metrics(self, _asked: Asked) -> Reply:
        return Reply(body=generate_latest(self._registry), content_type=CONTENT_TYPE_LATEST)


def _fault(text: str, code: int) -> Reply:
    """Return a refusal as an API server takes it: in the body of an answer that is well."""
    return Reply(body=admission.refused(None, text, code=code))
