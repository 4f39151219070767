"""What is behind each path: bytes to questions, verdicts to bytes."""

import asyncio
from collections.abc import Iterable
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry, generate_latest

from springtide import __version__
from springtide.apps.extender import endpoints
from springtide.apps.extender.device_metrics import CONTENT_TYPE, exposition
from springtide.apps.extender.explaining import Explaining
from springtide.apps.extender.following import Following
from springtide.apps.extender.probes import liveness, readiness
from springtide.apps.extender.scheduling import Passed, Rejected, Scheduling, Unanswered, Verdict
from springtide.apps.extender.settings import Settings
from springtide.edge.serving import Asked, Limits, Reply, Route, in_words, probe
from springtide.engine.live import Admitted, Submitted
from springtide.wire import admission, extender
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Parts
from springtide.wire.openapi import JSON

SMALL_BODY_BYTES: Final = 1 << 20
TOO_LARGE: Final = 413
NAMES_ARE_SHORTER: Final = (
    "Send names instead of nodes (nodeCacheCapable: true), or raise limits.bodyMib."
)


class Surface:
    """Answers the calls of one process."""

    def __init__(
        self,
        scheduling: Scheduling,
        following: Following,
        *,
        explaining: Explaining,
        settings: Settings,
        registry: CollectorRegistry,
    ) -> None:
        self._scheduling = scheduling
        self._following = following
        self._explaining = explaining
        self._settings = settings
        self._registry = registry
        self._parts = Parts()

    def calls(self) -> tuple[Route, ...]:
        """Return the routes of schedulers and API servers, beside the probes."""
        sizes = self._settings.sizes
        return (
            Route(
                endpoint=endpoints.FILTER,
                answer=self._filter,
                limits=self._limits(sizes.body_bytes),
                refuse=_filter_fault,
            ),
            Route(
                endpoint=endpoints.PRIORITIZE,
                answer=self._prioritize,
                limits=self._limits(sizes.body_bytes),
            ),
            Route(
                endpoint=endpoints.BIND,
                answer=self._bind,
                limits=self._limits(SMALL_BODY_BYTES),
                refuse=_bind_fault,
            ),
            Route(
                endpoint=endpoints.WEBHOOK,
                answer=self._review,
                limits=self._limits(sizes.review_bytes),
                refuse=_review_fault,
            ),
            Route(endpoint=endpoints.WHY, answer=self._explaining.why),
            Route(endpoint=endpoints.OPENAPI, answer=_openapi),
            *self.pages(),
        )

    def pages(self) -> tuple[Route, ...]:
        """Return the routes of probes and metrics."""
        return (
            Route(endpoint=endpoints.HEALTHZ, answer=self._healthz),
            Route(endpoint=endpoints.LIVEZ, answer=self._livez),
            Route(endpoint=endpoints.READYZ, answer=self._readyz),
            Route(endpoint=endpoints.VERSION, answer=_version),
            Route(endpoint=endpoints.METRICS, answer=self._metrics),
        )

    def _limits(self, size: int) -> Limits:
        return Limits(size_max=size, time_s_max=self._settings.deadlines.body_s)

    async def _healthz(self, asked: Asked) -> Reply:
        return probe(liveness(), "healthz", asked)

    async def _livez(self, asked: Asked) -> Reply:
        return probe(liveness(), "livez", asked)

    async def _readyz(self, asked: Asked) -> Reply:
        checks = readiness(self._scheduling, self._following.heard.values())
        return probe(checks, "readyz", asked)

    async def _metrics(self, _asked: Asked) -> Reply:
        devices = await exposition(self._scheduling.live, self._following.pods)
        return Reply(body=devices + generate_latest(self._registry), content_type=CONTENT_TYPE)

    async def _candidates(self, asked: Asked) -> extender.Candidates:
        """Read a call, and let others have their turn meanwhile; or raise MalformedArguments."""
        steps = extender.candidates_in_steps(asked.body, self._parts)
        try:
            while True:
                try:
                    next(steps)
                except StopIteration as done:
                    found: extender.Candidates = done.value
                    return found
                await asyncio.sleep(0)
        except extender.MalformedArguments:
            self._misunderstood(asked)
            raise

    async def _filter(self, asked: Asked) -> Reply:
        try:
            candidates = await self._candidates(asked)
        except extender.MalformedArguments as fault:
            return Reply(body=extender.filter_error(str(fault)))
        verdict = await self._scheduling.filter(candidates)
        return Reply(body=_answer(candidates, verdict))

    async def _prioritize(self, asked: Asked) -> Reply:
        try:
            candidates = await self._candidates(asked)
        except extender.MalformedArguments as fault:
            return in_words(str(fault), 400)
        scores = await self._scheduling.prioritize(candidates)
        if isinstance(scores, Unanswered):
            return in_words(scores.why, 503)
        return Reply(body=extender.priorities(scores))

    async def _bind(self, asked: Asked) -> Reply:
        try:
            arguments = extender.read_binding(bytes(asked.body))
        except extender.MalformedArguments as fault:
            self._misunderstood(asked)
            return Reply(body=extender.binding_result(str(fault)))
        return Reply(body=extender.binding_result(await self._scheduling.bind(arguments)))

    async def _review(self, asked: Asked) -> Reply:
        try:
            review = admission.read_review(bytes(asked.body))
        except admission.MalformedReview as fault:
            self._misunderstood(asked)
            return _review_fault(str(fault), 400)
        wrong = _wrong_type(asked)
        if wrong:
            return Reply(body=admission.refused(review, wrong, code=400))
        if not review.is_creation:
            return Reply(body=admission.allowed(review))
        try:
            made = admission.creation(review, self._parts)
        except (MalformedObject, msgspec.MsgspecError, UnicodeDecodeError) as fault:
            self._misunderstood(asked)
            return Reply(body=admission.refused(review, str(fault), code=400))
        return Reply(body=_reviewed(review, made, self._admitted(made)))

    def _admitted(self, made: admission.Creation) -> Admitted:
        submitted = Submitted(
            pod=made.pod,
            scheduler_name=made.scheduler_name,
            privileged=made.privileged,
            has_runtime_class=made.has_runtime_class,
        )
        return self._scheduling.admit(submitted)

    def _misunderstood(self, asked: Asked) -> None:
        self._scheduling.figures.misunderstood(asked.path)


def _answer(candidates: extender.Candidates, verdict: Verdict) -> bytes:
    match verdict:
        case Unanswered(why=why):
            return extender.filter_error(why)
        case Rejected(reasons=reasons):
            return extender.failed_nodes(reasons)
        case Passed(names=names) if candidates.objects is None:
            return extender.kept_names(names)
        case Passed(names=names):
            return extender.kept_nodes(_objects(candidates, names))


def _objects(candidates: extender.Candidates, names: tuple[str, ...]) -> Iterable[msgspec.Raw]:
    assert candidates.objects is not None
    if names is candidates.names:
        return candidates.objects
    chosen = set(names)
    return (
        each
        for name, each in zip(candidates.names, candidates.objects, strict=True)
        if name in chosen
    )


def _reviewed(review: admission.Review, made: admission.Creation, admitted: Admitted) -> bytes:
    if not admitted.is_allowed:
        return admission.refused(review, admitted.message, code=admitted.code)
    patch = admission.Patch(review.raw)
    if admitted.spec is not None:
        admission.set_amounts(patch, before=made.pod.spec, after=admitted.spec)
    if admitted.environment:
        admission.add_environment(patch, made.pod.spec, admitted.environment)
    if admitted.runtime_class:
        patch.set(("spec", "runtimeClassName"), admitted.runtime_class)
    if admitted.scheduler_name:
        patch.set(("spec", "schedulerName"), admitted.scheduler_name)
    return admission.allowed(review, patch.operations, message=admitted.message)


def _wrong_type(asked: Asked) -> str:
    """Return what is wrong with the type of a review's content, in controller-runtime's words."""
    kind = asked.header("content-type")
    if kind.partition(";")[0].strip().lower() == JSON:
        return ""
    return f"contentType={kind}, expected {JSON}"


def _filter_fault(why: str, status: int) -> Reply:
    remedy = f" {NAMES_ARE_SHORTER}" if status == TOO_LARGE else ""
    return Reply(body=extender.filter_error(f"{why}{remedy}"))


def _bind_fault(why: str, status: int) -> Reply:
    del status
    return Reply(body=extender.binding_result(why))


def _review_fault(why: str, status: int) -> Reply:
    return Reply(body=admission.refused(None, why, code=status))


async def _version(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(endpoints.Version(__version__)))


async def _openapi(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(endpoints.openapi()))
