"""The API of the extender: every endpoint, what it takes and what it answers.

`surface` puts an answer behind each of them. kube-scheduler looks at nothing but the body of an answer of
status 200, so that is where faults of its calls are told.
"""

from typing import Any, Final

import msgspec

from springtide.apps.extender.device_metrics import CONTENT_TYPE
from springtide.apps.extender.explaining import WhyFault
from springtide.apps.why import WhyReport
from springtide.edge.serving import CROWDED, STRANGER
from springtide.wire.admission import shapes as reviews
from springtide.wire.extender import shapes as calls
from springtide.wire.extender.result import (
    ExtenderBindingResult,
    ExtenderFilterResult,
    HostPriority,
)
from springtide.wire.openapi import TEXT, About, Content, Endpoint, Parameter, document

ABOUT: Final = About(
    title="springtide extender",
    version="v1",
    description=(
        "The scheduler extender and admission webhook that `springtide extender` serves. /filter, /prioritize "
        "and /bind speak the protocol of kube-scheduler (extender/v1), whose fields are spelled as Go names them, "
        "and /webhook that of the API server (admission.k8s.io). A call of theirs that cannot be understood "
        "is answered with status 200 as well, and says what is wrong in its body."
    ),
)
_BESIDES: Final = {**STRANGER, **CROWDED}


class Version(msgspec.Struct, frozen=True):
    """The version of the program."""

    version: str


FILTER: Final = Endpoint(
    method="POST",
    path="/filter",
    summary="Choose one node for a pod",
    description=(
        "The devices are held, and written on the pod. A pod that asks for no devices keeps all its nodes."
    ),
    body=Content(holds=calls.ExtenderArgs),
    replies={200: Content(holds=ExtenderFilterResult), **_BESIDES},
)
_REFUSED: Final = {
    400: Content(media_type=TEXT, description="The call makes no sense."),
    408: Content(media_type=TEXT, description="The body did not come in time."),
    413: Content(media_type=TEXT, description="The body is too large."),
    415: Content(media_type=TEXT, description="The body is compressed."),
    503: Content(media_type=TEXT, description="This replica does not answer now: ask again."),
}

PRIORITIZE: Final = Endpoint(
    method="POST",
    path="/prioritize",
    summary="Score nodes for a pod",
    description=(
        "From 0 to 10, in the order in which /filter would prefer them. There is no field for a fault, so "
        "that it is told by the status."
    ),
    body=Content(holds=calls.ExtenderArgs),
    replies={200: Content(holds=list[HostPriority]), **STRANGER, **_REFUSED},
)
BIND: Final = Endpoint(
    method="POST",
    path="/bind",
    summary="Lock the node and bind the pod to it",
    body=Content(holds=calls.ExtenderBindingArgs),
    replies={200: Content(holds=ExtenderBindingResult), **_BESIDES},
)
WEBHOOK: Final = Endpoint(
    method="POST",
    path="/webhook",
    summary="Review a pod that is to be created",
    body=Content(holds=reviews.AdmissionReviewRequest),
    replies={200: Content(holds=reviews.AdmissionReviewResponse), **_BESIDES},
)


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


_WORDS: Final = Content(media_type=TEXT)

HEALTHZ: Final = _page("/healthz", "Say whether the process answers", _WORDS, is_probe=True)
LIVEZ: Final = _page("/livez", "Say whether the process answers", _WORDS, is_probe=True)
READYZ: Final = _page("/readyz", "Say whether it knows the cluster", _WORDS, is_probe=True)
VERSION: Final = _page("/version", "Say which version runs", Content(holds=Version))
METRICS: Final = _page("/metrics", "Show HAMi's metrics and ours", Content(media_type=CONTENT_TYPE))
OPENAPI: Final = _page("/openapi.json", "Show this document", Content(holds=dict[str, Any]))

WHY: Final = Endpoint(
    method="GET",
    path="/v1/why",
    summary="Say why pods have no node, and what would help",
    replies={
        200: Content(holds=WhyReport),
        400: Content(holds=WhyFault, description="The question makes no sense."),
        404: Content(holds=WhyFault, description="There is no such pod."),
        503: Content(holds=WhyFault, description="There is no answer now: ask again."),
        504: Content(holds=WhyFault, description="There was no answer in time."),
    },
    parameters=(
        Parameter(name="pod", description="NAMESPACE/NAME; may be repeated, up to 16 times."),
        Parameter(name="namespace", description="That of names without one."),
        Parameter(name="allNodes", description="Tells every node by itself.", is_flag=True),
    ),
    is_public=True,
)

PAGES: Final = (HEALTHZ, LIVEZ, READYZ, VERSION, METRICS)
ENDPOINTS: Final = (FILTER, PRIORITIZE, BIND, WEBHOOK, WHY, OPENAPI, *PAGES)


def openapi() -> dict[str, Any]:
    """Return the document of the API."""
    return document(ABOUT, ENDPOINTS)
