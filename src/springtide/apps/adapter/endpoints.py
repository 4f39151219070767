"""The API of the adapter: every endpoint, what it takes and what it answers; `surface` puts answers behind them."""

import hashlib
from typing import Any, Final

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST

from springtide.wire.metrics_api import ExternalMetricValueList, MetricValueList, Status
from springtide.wire.openapi import TEXT, About, Content, Endpoint, Parameter, document

ABOUT: Final = About(
    title="springtide replicas adapter",
    version="v1beta1",
    description=(
        "The aggregated API server that `springtide replicas adapter` runs: external.metrics.k8s.io and, if "
        "configured, custom.metrics.k8s.io, as a HorizontalPodAutoscaler asks them."
    ),
)


def _refusal(description: str) -> Content:
    return Content(holds=Status, description=description)


_STRANGERS: Final = {
    401: _refusal("Nobody knows who asks."),
    403: _refusal("Whoever asks may not."),
    503: _refusal("There is no answer now; the autoscaler holds."),
}
_SELECTOR: Final = Parameter(
    name="labelSelector", description="Which series count; it must name one workload."
)
_NAMESPACE: Final = Parameter(
    name="namespace", description="The namespace of the workload.", place="path"
)
_METRIC: Final = Parameter(name="metric", description="The metric.", place="path")
_NO_VALUE: Final = {
    400: _refusal("The selector cannot be read, or names no workload."),
    404: _refusal("There is no such metric, or nobody has sent it."),
}


def _told(path: str, summary: str, *, holds: Any = dict[str, Any]) -> Endpoint:
    return Endpoint(
        method="GET", path=path, summary=summary, replies={200: Content(holds=holds), **_STRANGERS}
    )


EXTERNAL_METRIC: Final = Endpoint(
    method="GET",
    path="/apis/external.metrics.k8s.io/v1beta1/namespaces/{namespace}/{metric}",
    summary="Say what a metric comes to for one workload",
    replies={200: Content(holds=ExternalMetricValueList), **_NO_VALUE, **_STRANGERS},
    parameters=(_NAMESPACE, _METRIC, _SELECTOR),
)
CUSTOM_METRIC: Final = Endpoint(
    method="GET",
    path="/apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/{resource}/{name}/{metric}",
    summary="Say what a metric of an object comes to",
    replies={200: Content(holds=MetricValueList), **_NO_VALUE, **_STRANGERS},
    parameters=(
        _NAMESPACE,
        Parameter(name="resource", description="Such as statefulsets.apps.", place="path"),
        Parameter(name="name", description="The name of the object.", place="path"),
        _METRIC,
        Parameter(name="metricLabelSelector", description="Which series count."),
    ),
)
GROUPS: Final = _told("/apis", "List the API groups")
EXTERNAL_GROUP: Final = _told("/apis/external.metrics.k8s.io", "Tell of external metrics")
EXTERNAL_RESOURCES: Final = _told(
    "/apis/external.metrics.k8s.io/v1beta1", "List the external metrics"
)
CUSTOM_GROUP: Final = _told("/apis/custom.metrics.k8s.io", "Tell of custom metrics")
CUSTOM_RESOURCES: Final = _told("/apis/custom.metrics.k8s.io/v1beta2", "List the custom metrics")
OPENAPI_V2: Final = _told("/openapi/v2", "Show an empty document of OpenAPI 2")
OPENAPI_V3: Final = _told("/openapi/v3", "List the documents of OpenAPI 3")
EXTERNAL_OPENAPI: Final = _told(
    "/openapi/v3/apis/external.metrics.k8s.io/v1beta1", "Show this document"
)
CUSTOM_OPENAPI: Final = _told(
    "/openapi/v3/apis/custom.metrics.k8s.io/v1beta2", "Show the document of custom metrics"
)


class Version(msgspec.Struct, frozen=True):
    """The version of the program."""

    version: str


_WORDS: Final = Content(media_type=TEXT)
_FAILING: Final = {503: Content(media_type=TEXT, description="Which check fails, and why.")}
_VERBOSE: Final = (Parameter(name="verbose", description="Lists the checks.", is_flag=True),)


def _page(path: str, summary: str, content: Content, *, is_probe: bool = False) -> Endpoint:
    return Endpoint(
        method="GET",
        path=path,
        summary=summary,
        replies={200: content, **(_FAILING if is_probe else {})},
        parameters=_VERBOSE if is_probe else (),
        is_public=True,
    )


HEALTHZ: Final = _page("/healthz", "Say whether the process answers", _WORDS, is_probe=True)
LIVEZ: Final = _page("/livez", "Say whether the process answers", _WORDS, is_probe=True)
READYZ: Final = _page("/readyz", "Say whether it can be asked", _WORDS, is_probe=True)
VERSION: Final = _page("/version", "Say which version runs", Content(holds=Version))
METRICS: Final = _page(
    "/metrics", "Show the adapter's own metrics", Content(media_type=CONTENT_TYPE_LATEST)
)

EXTERNAL_ENDPOINTS: Final = (
    GROUPS,
    EXTERNAL_GROUP,
    EXTERNAL_RESOURCES,
    EXTERNAL_METRIC,
    OPENAPI_V2,
    OPENAPI_V3,
    EXTERNAL_OPENAPI,
)
CUSTOM_ENDPOINTS: Final = (CUSTOM_GROUP, CUSTOM_RESOURCES, CUSTOM_METRIC, CUSTOM_OPENAPI)


def external_openapi() -> bytes:
    """Return the document of external metrics."""
    return msgspec.json.encode(
        document(ABOUT, (EXTERNAL_GROUP, EXTERNAL_RESOURCES, EXTERNAL_METRIC))
    )


def custom_openapi() -> bytes:
    """Return the document of custom metrics."""
    return msgspec.json.encode(document(ABOUT, (CUSTOM_GROUP, CUSTOM_RESOURCES, CUSTOM_METRIC)))


def openapi() -> dict[str, Any]:
    """Return the document of everything."""
    pages = (HEALTHZ, LIVEZ, READYZ, VERSION, METRICS)
    return document(ABOUT, (*EXTERNAL_ENDPOINTS, *CUSTOM_ENDPOINTS, *pages))


def digest_of(*documents: bytes) -> str:
    """Return what changes with what documents say."""
    return hashlib.sha256(b"".join(documents)).hexdigest()[:32].upper()
