"""The API of the simulation: every endpoint, what it takes and what it answers.

`surface` puts an answer behind each of them. What is wrong with a filter call is told in the body of a 200,
because an extender client looks at nothing else; all other calls get a problem of RFC 9457.
"""

from typing import Any, Final

from springtide.apps.extender.device_metrics import CONTENT_TYPE
from springtide.apps.extender.endpoints import Version
from springtide.apps.sessions.replies import PROBLEM_JSON
from springtide.wire.openapi import TEXT, About, Content, Endpoint, Parameter, document
from springtide.wire.simulation import calls
from springtide.wire.simulation.answers import (
    EstimateAnswer,
    EvaluationAnswer,
    PlaceAnswer,
    Problem,
    RemoveAnswer,
    SessionAnswer,
    SessionContent,
)
from springtide.wire.simulation.calls import DynamicFields
from springtide.wire.simulation.shapes import SimulationArgs, SimulationResult

ABOUT: Final = About(
    title="springtide simulation",
    version="v1",
    description=(
        "Hypothetical scheduling: what pods would get on nodes that do not exist yet. Nothing that is asked "
        "here changes a cluster. /filter-simulation speaks the protocol of scheduler extenders "
        "(extender/v1), whose fields are spelled as Go names them."
    ),
)


def _problem(description: str) -> Content:
    return Content(holds=Problem, media_type=PROBLEM_JSON, description=description)


_INVALID: Final = {400: _problem("The call cannot be read.")}
_STRANGERS: Final = {
    401: _problem("The caller does not show who it is."),
    403: _problem("The caller is none of those that may call."),
    503: _problem("It cannot be found out now whose the token is."),
}
_ACCESS: Final = {
    **_STRANGERS,
    429: _problem("Too much is asked at once; Retry-After says when to try again."),
}
_BODY: Final = {
    408: _problem("The body did not come in time."),
    413: _problem("A bound of a call or a session is reached."),
    415: _problem("The body is encoded in a way that is not read."),
}
_WORKED: Final = {504: _problem("The answer took longer than it may.")}
_SESSION: Final = {
    404: _problem("The client has opened no such session."),
    410: _problem("The session is gone: open a new one."),
}
_CHANGING: Final = {
    409: _problem("The session is at another revision, or the id of the operation is taken."),
    422: _problem("The call says what cannot be."),
}

TIMEOUT: Final = "x-request-timeout"
_TIMEOUT: Final = Parameter(
    name="X-Request-Timeout",
    place="header",
    description="How long the caller waits, such as 500ms or 3s; the server's own limit holds as well.",
    pattern=r"^([0-9]+|([0-9]+(\.[0-9]+)?(ms|s|m|h))+)?$",
)
_ID: Final = Parameter(name="id", place="path", description="The session, as its opening named it.")

FILTER: Final = Endpoint(
    method="POST",
    path="/filter-simulation",
    summary="Say which nodes would take a pod",
    description="Nodes that fit go back byte for byte, the others with a reason.",
    body=Content(holds=SimulationArgs),
    replies={
        200: Content(holds=SimulationResult),
        **{
            status: Content(holds=SimulationResult, description=content.description)
            for status, content in _STRANGERS.items()
        },
    },
    parameters=(
        Parameter(
            name="dynamicFields",
            description="`keep` trusts registrations as they stand; `reset`, the default, does not.",
            choices=tuple(DynamicFields),
        ),
        _TIMEOUT,
    ),
)
ESTIMATE: Final = Endpoint(
    method="POST",
    path="/v1/estimate",
    summary="Say how many nodes of each template pods need",
    body=Content(holds=calls.Estimate),
    replies={
        200: Content(holds=EstimateAnswer),
        422: _CHANGING[422],
        **_INVALID, **_ACCESS, **_BODY, **_WORKED,
    },
    parameters=(_TIMEOUT,),
)  # fmt: skip
OPEN: Final = Endpoint(
    method="POST",
    path="/v1/sessions",
    summary="Open a session on nodes",
    body=Content(holds=calls.OpenSession),
    replies={
        201: Content(holds=SessionAnswer),
        **_INVALID, **_ACCESS, **_BODY, **_WORKED, **_CHANGING,
    },
    parameters=(_TIMEOUT,),
)  # fmt: skip


def _call(verb: str, summary: str, holds: Any, answer: Any, *, changes: bool = True) -> Endpoint:
    return Endpoint(
        method="POST",
        path=f"/v1/sessions/{{id}}:{verb}",
        summary=summary,
        body=Content(holds=holds),
        replies={
            200: Content(holds=answer),
            **_INVALID, **_ACCESS, **_BODY, **_WORKED, **_SESSION,
            **(_CHANGING if changes else {422: _CHANGING[422]}),
        },
        parameters=(_ID, _TIMEOUT),
    )  # fmt: skip


EVALUATE: Final = _call(
    "evaluate", "Say which nodes take pods", calls.Evaluate, EvaluationAnswer, changes=False
)
CHANGES: Final = {
    "place": _call("place", "Place pods on nodes", calls.Place, PlaceAnswer),
    "remove": _call("remove", "Take placed pods away", calls.Remove, RemoveAnswer),
    "addNodes": _call("addNodes", "Add nodes", calls.AddNodes, SessionAnswer),
    "removeNodes": _call("removeNodes", "Take nodes away", calls.RemoveNodes, RemoveAnswer),
    "fork": _call("fork", "Begin what may be taken back", calls.Change, SessionAnswer),
    "revert": _call("revert", "Take back what was done since the last fork", calls.Change, SessionAnswer),
    "commit": _call("commit", "Keep what was done since the last fork", calls.Change, SessionAnswer),
}  # fmt: skip
GET: Final = Endpoint(
    method="GET",
    path="/v1/sessions/{id}",
    summary="Show what is placed where",
    replies={
        200: Content(holds=SessionContent), **_INVALID, **_ACCESS, **_WORKED, **_SESSION,
    },
    parameters=(_ID, _TIMEOUT),
)  # fmt: skip
CLOSE: Final = Endpoint(
    method="DELETE",
    path="/v1/sessions/{id}",
    summary="End a session",
    replies={204: None, **_INVALID, **_ACCESS, **_WORKED, **_SESSION},
    parameters=(_ID, _TIMEOUT),
)

_FAILING: Final = Content(media_type=TEXT, description="Which check fails, and why.")
_VERBOSE: Final = Parameter(name="verbose", description="Lists the checks.", is_flag=True)


def _page(
    path: str, summary: str, content: Content, *, is_probe: bool = False, is_public: bool = False
) -> Endpoint:
    return Endpoint(
        method="GET",
        path=path,
        summary=summary,
        replies={200: content, **({} if is_public else _ACCESS), **({503: _FAILING} if is_probe else {})},
        parameters=(_VERBOSE,) if is_probe else (),
        is_public=is_public,
    )  # fmt: skip


_WORDS: Final = Content(media_type=TEXT)

HEALTHZ: Final = _page("/healthz", "Say whether the process answers", _WORDS, is_probe=True, is_public=True)  # fmt: skip
LIVEZ: Final = _page("/livez", "Say whether the process answers", _WORDS, is_probe=True)
READYZ: Final = _page("/readyz", "Say whether it knows the profiles", _WORDS, is_probe=True)
VERSION: Final = _page("/version", "Say which version runs", Content(holds=Version))
METRICS: Final = _page("/metrics", "Show the metrics", Content(media_type=CONTENT_TYPE))
OPENAPI: Final = _page("/openapi.json", "Show this document", Content(holds=dict[str, Any]))

PAGES: Final = (HEALTHZ, LIVEZ, READYZ, VERSION, METRICS)
ENDPOINTS: Final = (
    FILTER, OPEN, GET, CLOSE, EVALUATE, *CHANGES.values(), ESTIMATE, OPENAPI, *PAGES,
)  # fmt: skip


def openapi() -> dict[str, Any]:
    """Return the document of the API."""
    return document(ABOUT, ENDPOINTS)
