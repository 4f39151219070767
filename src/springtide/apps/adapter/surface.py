"""What is behind each path: who asks, whether they may, and the bytes of the answer.

Discovery is made once and depends on nobody: a server that is slow to tell what it has slows the whole
cluster down. Values are errors wherever there is doubt, and errors name no queries and no addresses.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from springtide import __version__
from springtide.apps.adapter import endpoints
from springtide.apps.adapter.figures import OTHER, Figures
from springtide.apps.adapter.identity import Identity
from springtide.apps.adapter.permission import Permission
from springtide.apps.adapter.settings import Served, Settings
from springtide.apps.adapter.upstream import Apart, Upstream
from springtide.apps.adapter.values import Values
from springtide.base.clock import Calendar, Clock
from springtide.edge.cluster.errors import ClusterFault
from springtide.edge.lines import Log
from springtide.edge.serving import Asked, Check, Reply, Route, probe
from springtide.edge.serving.routes import Answer
from springtide.engine.metrics import Answered, AnswerReason, Refused, read_asked
from springtide.engine.metrics import Asked as Question
from springtide.wire import metrics_api
from springtide.wire.delegation import Attributes
from springtide.wire.errors import MalformedObject
from springtide.wire.metrics_api import Group, Resource, Subject
from springtide.wire.openapi import Endpoint

EXTERNAL_GROUP: Final = "external.metrics.k8s.io"
CUSTOM_GROUP: Final = "custom.metrics.k8s.io"
UNDECIDED: Final = "The API server could not say whether this is allowed. Try again."
STRANGER: Final = "Nobody knows who asks: come by way of the API server, or show a token."
_SELECTOR: Final = "labelSelector"
_SERIES_SELECTOR: Final = "metricLabelSelector"

Attribution = Callable[[Asked], Attributes]


class Surface:
    """Answers the calls of one process."""

    def __init__(
        self,
        settings: Settings,
        *,
        identity: Identity,
        permission: Permission,
        values: Values,
        upstream: Upstream | None,
        figures: Figures,
        registry: CollectorRegistry,
        clock: Clock,
        calendar: Calendar,
        log: Log,
    ) -> None:
        self._served = {each.metric.name: each for each in settings.served}
        self._serves_custom = settings.serves_custom_metrics
        self._identity = identity
        self._permission = permission
        self._values = values
        self._upstream = upstream
        self._figures = figures
        self._registry = registry
        self._clock = clock
        self._calendar = calendar
        self._log = log
        self._external = external_group(settings)
        self._custom = custom_group(settings)
        self.is_leaving = False

    def calls(self) -> tuple[Route, ...]:
        """Return the routes of the API server, beside the probes."""
        groups = [self._external, *([self._custom] if self._serves_custom else [])]
        documents = {f"apis/{self._external.group_version}": endpoints.external_openapi()}
        if self._serves_custom:
            documents[f"apis/{self._custom.group_version}"] = endpoints.custom_openapi()
        digest = endpoints.digest_of(*documents.values())
        plain, aggregated = metrics_api.api_group_list(groups), metrics_api.discovery_list(groups)
        return (
            self._told(endpoints.GROUPS, partial(_groups, plain, aggregated)),
            self._fixed(endpoints.EXTERNAL_GROUP, metrics_api.api_group(self._external)),
            self._fixed(endpoints.EXTERNAL_RESOURCES, metrics_api.resource_list(self._external)),
            self._route(endpoints.EXTERNAL_METRIC, self._external_value, _external_attributes),
            self._fixed(
                endpoints.OPENAPI_V2,
                metrics_api.openapi_v2(endpoints.ABOUT.title, endpoints.ABOUT.version),
            ),
            self._fixed(
                endpoints.OPENAPI_V3, metrics_api.openapi_v3_index(list(documents), digest)
            ),
            self._fixed(endpoints.EXTERNAL_OPENAPI, endpoints.external_openapi()),
            *(self._custom_calls() if self._serves_custom else ()),
            *self._probes(),
        )

    def pages(self) -> tuple[Route, ...]:
        """Return the routes of probes and metrics."""
        return (
            *self._probes(),
            Route(endpoint=endpoints.VERSION, answer=_version),
            Route(endpoint=endpoints.METRICS, answer=self._metrics),
        )

    def _custom_calls(self) -> tuple[Route, ...]:
        return (
            self._fixed(endpoints.CUSTOM_GROUP, metrics_api.api_group(self._custom)),
            self._fixed(endpoints.CUSTOM_RESOURCES, metrics_api.resource_list(self._custom)),
            self._route(endpoints.CUSTOM_METRIC, self._custom_value, _custom_attributes),
            self._fixed(endpoints.CUSTOM_OPENAPI, endpoints.custom_openapi()),
        )

    def _probes(self) -> tuple[Route, ...]:
        return tuple(
            Route(endpoint=each, answer=partial(self._probe, each.path[1:]))
            for each in (endpoints.HEALTHZ, endpoints.LIVEZ, endpoints.READYZ)
        )

    async def _probe(self, name: str, asked: Asked) -> Reply:
        checks = [Check(name="ping")]
        if name == "readyz":
            stopping = "the process is shutting down" if self.is_leaving else ""
            checks.append(Check(name="shutdown", why=stopping))
        return probe(checks, name, asked)

    async def _metrics(self, _asked: Asked) -> Reply:
        kind = CONTENT_TYPE_LATEST
        return Reply(body=generate_latest(self._registry), content_type=kind)

    def _fixed(self, endpoint: Endpoint, body: bytes) -> Route:
        return self._told(endpoint, partial(_same, body))

    def _told(self, endpoint: Endpoint, answer: Answer) -> Route:
        return self._route(endpoint, answer, _page_attributes)

    def _route(self, endpoint: Endpoint, answer: Answer, attributes: Attribution) -> Route:
        guarded = partial(self._guarded, answer, attributes)
        return Route(endpoint=endpoint, answer=guarded, refuse=in_status)

    async def _guarded(self, answer: Answer, attributes: Attribution, asked: Asked) -> Reply:
        """Answer whoever is known and may ask."""
        try:
            user = await self._identity.of(asked)
            if user is None:
                return in_status(STRANGER, 401)
            wanted = attributes(asked)
            verdict = await self._permission.verdict(user, wanted)
        except (ClusterFault, MalformedObject) as fault:
            self._log("access_undecided", is_fault=True, path=asked.path, message=str(fault))
            return in_status(UNDECIDED, 503)
        if not verdict.is_allowed:
            return in_status(_forbidden(user.name, wanted, verdict.why), 403)
        return await answer(asked)

    async def _external_value(self, asked: Asked) -> Reply:
        name = asked.values["metric"]
        served = self._served.get(name)
        if served is None and self._upstream is not None:
            return await self._passed(self._upstream, asked)
        return await self._timed(served, partial(self._external_reply, served, asked))

    async def _external_reply(self, served: Served | None, asked: Asked) -> Reply:
        if served is None:
            return _refused(_unknown(asked.values["metric"]))
        question = read_asked(served.metric, asked.values["namespace"], _text(asked, _SELECTOR))
        found = await self._found(served, question)
        if isinstance(found, Refused) or isinstance(question, Refused):
            assert isinstance(found, Refused)
            return _absent(served, found)
        labels = dict(question.labels)
        body = metrics_api.external_list(
            served.metric.name, found.value, labels=labels, unix_s=found.unix_s
        )
        return Reply(body=body)

    async def _custom_value(self, asked: Asked) -> Reply:
        served = self._served.get(asked.values["metric"])
        return await self._timed(served, partial(self._custom_reply, served, asked))

    async def _custom_reply(self, served: Served | None, asked: Asked) -> Reply:
        if served is None or asked.values["resource"] not in _resources(served):
            return _refused(_unknown(asked.values["metric"]))
        text = ",".join(
            filter(
                None,
                (f"{served.name_label}={asked.values['name']}", _text(asked, _SERIES_SELECTOR)),
            )
        )
        question = read_asked(served.metric, asked.values["namespace"], text)
        found = await self._found(served, question)
        if isinstance(found, Refused):
            return _refused(found)
        subject = Subject(
            kind=served.kind,
            namespace=asked.values["namespace"],
            name=asked.values["name"],
            api_version="apps/v1",
        )
        body = metrics_api.custom_list(
            served.metric.name, found.value, subject=subject, unix_s=found.unix_s
        )
        return Reply(body=body)

    async def _found(self, served: Served, question: Question | Refused) -> Answered | Refused:
        found = (
            question if isinstance(question, Refused) else await self._values.of(served, question)
        )
        if isinstance(found, Refused):
            self._figures.refused(served.metric.name, found.reason)
        else:
            self._figures.answered(served.metric.name, self._calendar.unix_s() - found.unix_s)
        return found

    async def _timed(self, served: Served | None, reply: Callable[[], Awaitable[Reply]]) -> Reply:
        begun_s = self._clock.monotonic_s()
        answered = await reply()
        name = OTHER if served is None else served.metric.name
        self._figures.asked(name, answered.status, self._clock.monotonic_s() - begun_s)
        return answered

    async def _passed(self, upstream: Upstream, asked: Asked) -> Reply:
        query = [(name, value) for name, values in asked.query.items() for value in values]
        try:
            return await upstream.ask(asked.values["namespace"], asked.values["metric"], query)
        except Apart as fault:
            self._log("upstream_failed", is_fault=True, message=str(fault))
            return in_status("The server of this metric gave no answer. Try again.", 503)


def _absent(served: Served, found: Refused) -> Reply:
    """Return an empty list where a plain metric has no samples for a question: nobody scales by it alone."""
    if not served.metric.is_whole and found.reason is AnswerReason.NO_SAMPLES:
        return Reply(body=metrics_api.external_list_of_none())
    return _refused(found)


def in_status(text: str, code: int) -> Reply:
    """Return a refusal as an API server words it."""
    return Reply(body=metrics_api.status(text, code), status=code)


def external_group(settings: Settings) -> Group:
    """Return what is told of external metrics."""
    listed = [
        Resource(name=each.metric.name, kind="ExternalMetricValueList") for each in settings.served
    ]
    return Group(name=EXTERNAL_GROUP, version="v1beta1", resources=tuple(listed))


def custom_group(settings: Settings) -> Group:
    """Return what is told of custom metrics."""
    listed = [
        Resource(name=each.metric.name, kind="MetricValueList", of=f"{each.resource}.apps")
        for each in settings.served
    ]
    return Group(name=CUSTOM_GROUP, version="v1beta2", resources=tuple(listed))


async def _same(body: bytes, _asked: Asked) -> Reply:
    return Reply(body=body)


async def _groups(plain: bytes, aggregated: bytes, asked: Asked) -> Reply:
    if metrics_api.wants_aggregated(asked.header("accept")):
        return Reply(body=aggregated, content_type=metrics_api.AGGREGATED_TYPE)
    return Reply(body=plain)


async def _version(_asked: Asked) -> Reply:
    return Reply(body=msgspec.json.encode(endpoints.Version(__version__)))


def _page_attributes(asked: Asked) -> Attributes:
    return Attributes(verb="get", path=asked.path)


def _external_attributes(asked: Asked) -> Attributes:
    return Attributes(
        verb="get",
        group=EXTERNAL_GROUP,
        version="v1beta1",
        resource=asked.values["metric"],
        namespace=asked.values["namespace"],
    )


def _custom_attributes(asked: Asked) -> Attributes:
    return Attributes(
        verb="get",
        group=CUSTOM_GROUP,
        version="v1beta2",
        resource=asked.values["resource"],
        subresource=asked.values["metric"],
        namespace=asked.values["namespace"],
        name=asked.values["name"],
    )


def _resources(served: Served) -> tuple[str, str]:
    return served.resource, f"{served.resource}.apps"


def _text(asked: Asked, name: str) -> str:
    return ",".join(filter(None, asked.query.get(name, ())))


def _unknown(name: str) -> Refused:
    return Refused(
        reason=AnswerReason.UNKNOWN_METRIC,
        message=f'There is no metric "{name}". Correct its name, or add it to the adapter\'s metrics.',
    )


def _refused(refused: Refused) -> Reply:
    return in_status(f"{refused.reason}: {refused.message}", refused.code)


def _forbidden(user: str, wanted: Attributes, why: str) -> str:
    what = wanted.path or f"{wanted.resource}.{wanted.group}"
    where = f' in the namespace "{wanted.namespace}"' if wanted.namespace else ""
    return f'User "{user}" may not get {what}{where}{f": {why}" if why else ""}. Grant the right.'
