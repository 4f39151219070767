"""What is behind each path: bytes to questions, verdicts to bytes."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry, generate_latest
from uvicorn._types import HTTPScope

from springtide import __version__
from springtide.apps.extender.application import TEXT, Call, Page, Paths
from springtide.apps.extender.device_metrics import CONTENT_TYPE, exposition
from springtide.apps.extender.explaining import Explaining
from springtide.apps.extender.following import Following
from springtide.apps.extender.probes import Check, liveness, readiness, told
from springtide.apps.extender.scheduling import Passed, Rejected, Scheduling, Unanswered, Verdict
from springtide.apps.extender.settings import Settings
from springtide.edge.serving import Limits, Reply
from springtide.engine.live import Admitted, Submitted
from springtide.wire import admission, extender
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Parts

FILTER, PRIORITIZE, BIND, WEBHOOK = "/filter", "/prioritize", "/bind", "/webhook"
METRICS: Final = "/metrics"
WHY: Final = "/v1/why"
SMALL_BODY_BYTES: Final = 1 << 20
JSON: Final = "application/json"

Query = Mapping[str, list[str]]


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

    def calls(self) -> Paths:
        """Return the paths that schedulers and API servers post to, beside the probes."""
        sizes, deadlines = self._settings.sizes, self._settings.deadlines

        def limits(size: int) -> Limits:
            return Limits(size_max=size, time_s_max=deadlines.body_s)

        return {
            FILTER: Call(take=self._filter, refuse=_filter_fault, limits=limits(sizes.body_bytes)),
            PRIORITIZE: Call(
                take=self._prioritize,
                refuse=_priority_fault,
                limits=limits(sizes.body_bytes),
                has_status=True,
            ),
            BIND: Call(take=self._bind, refuse=_bind_fault, limits=limits(SMALL_BODY_BYTES)),
            WEBHOOK: Call(
                take=self._review, refuse=_review_fault, limits=limits(sizes.review_bytes)
            ),
            WHY: Page(self._explaining.why),
            **self.pages(),
        }

    def pages(self) -> Paths:
        """Return the paths of probes and metrics."""
        return {
            "/healthz": Page(self._healthz),
            "/livez": Page(self._livez),
            "/readyz": Page(self._readyz),
            "/version": Page(_version),
            METRICS: Page(self._metrics),
        }

    async def _healthz(self, query: Query) -> Reply:
        return _probe(liveness(), "healthz", query)

    async def _livez(self, query: Query) -> Reply:
        return _probe(liveness(), "livez", query)

    async def _readyz(self, query: Query) -> Reply:
        checks = readiness(self._scheduling, self._following.heard.values())
        return _probe(checks, "readyz", query)

    async def _metrics(self, _query: Query) -> Reply:
        devices = await exposition(self._scheduling.live, self._following.pods)
        return Reply(body=devices + generate_latest(self._registry), content_type=CONTENT_TYPE)

    async def _candidates(self, body: bytearray) -> extender.Candidates:
        """Read a call, and let others have their turn meanwhile; or raise MalformedArguments."""
        steps = extender.candidates_in_steps(body, self._parts)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                found: extender.Candidates = done.value
                return found
            await asyncio.sleep(0)

    async def _filter(self, body: bytearray, scope: HTTPScope) -> Reply:
        try:
            candidates = await self._candidates(body)
        except extender.MalformedArguments as fault:
            self._misunderstood(scope)
            return Reply(body=extender.filter_error(str(fault)))
        verdict = await self._scheduling.filter(candidates)
        return Reply(body=_answer(candidates, verdict))

    async def _prioritize(self, body: bytearray, scope: HTTPScope) -> Reply:
        try:
            candidates = await self._candidates(body)
        except extender.MalformedArguments as fault:
            self._misunderstood(scope)
            return Reply(body=_priority_fault(str(fault), 400), status=400)
        scores = await self._scheduling.prioritize(candidates)
        if isinstance(scores, Unanswered):
            return Reply(body=_priority_fault(scores.why, 503), status=503)
        return Reply(body=extender.priorities(scores))

    async def _bind(self, body: bytearray, scope: HTTPScope) -> Reply:
        try:
            arguments = extender.read_binding(bytes(body))
        except extender.MalformedArguments as fault:
            self._misunderstood(scope)
            return Reply(body=extender.binding_result(str(fault)))
        return Reply(body=extender.binding_result(await self._scheduling.bind(arguments)))

    async def _review(self, body: bytearray, scope: HTTPScope) -> Reply:
        try:
            review = admission.read_review(bytes(body))
        except admission.MalformedReview as fault:
            self._misunderstood(scope)
            return Reply(body=_review_fault(str(fault), 400))
        wrong = _wrong_type(scope)
        if wrong:
            return Reply(body=admission.refused(review, wrong, code=400))
        if not review.is_creation:
            return Reply(body=admission.allowed(review))
        try:
            made = admission.creation(review, self._parts)
        except (MalformedObject, msgspec.MsgspecError, UnicodeDecodeError) as fault:
            self._misunderstood(scope)
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

    def _misunderstood(self, scope: HTTPScope) -> None:
        self._scheduling.figures.misunderstood(scope["path"])


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


def _wrong_type(scope: HTTPScope) -> str:
    """Return what is wrong with the type of a review's content, in controller-runtime's words."""
    given = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    kind = given.decode("latin-1")
    if kind.partition(";")[0].strip().lower() == JSON:
        return ""
    return f"contentType={kind}, expected {JSON}"


def _filter_fault(why: str, status: int) -> bytes:
    del status
    return extender.filter_error(why)


def _priority_fault(why: str, status: int) -> bytes:
    """Say it where people see it; kube-scheduler has no place for it, and goes by the status alone."""
    del status
    return msgspec.json.encode({"Error": why})


def _bind_fault(why: str, status: int) -> bytes:
    del status
    return extender.binding_result(why)


def _review_fault(why: str, status: int) -> bytes:
    return admission.refused(None, why, code=status)


def _probe(checks: Iterable[Check], name: str, query: Query) -> Reply:
    is_good, text = told(checks, name, is_verbose="verbose" in query)
    return Reply(body=text.encode(), status=200 if is_good else 503, content_type=TEXT)


async def _version(_query: Query) -> Reply:
    return Reply(body=msgspec.json.encode({"version": __version__}))
