"""What one member serves: pages for operators, orders, and the hook before a stop."""

from typing import Any, Final

import msgspec

from springtide import __version__
from springtide.wire.openapi import TEXT, About, Content, Endpoint, Parameter, document
from springtide.wire.replica_pages import (
    MemberPage,
    OrderAsked,
    RecoveredAsked,
    ReleaseAsked,
    Said,
    ScheduleAsked,
    ShutdownAsked,
    StatusPage,
    ThawAsked,
)

ABOUT: Final = About(
    title="springtide replicas",
    version="v1",
    description=(
        "One member of a stateful service: its labels, its round and its inputs, what an operator may order, "
        "and what a preStop hook calls. Where a token file is configured, every call but the probes shows "
        "that token."
    ),
)


class Version(msgspec.Struct, frozen=True):
    """The version of the program."""

    version: str = __version__


_WORDS: Final = Content(media_type=TEXT)
_STRANGER: Final = {401: Content(media_type=TEXT, description="The token is missing or wrong.")}
_ORDERED: Final = {
    200: Content(holds=Said),
    400: Content(media_type=TEXT, description="The order makes no sense."),
    409: Content(media_type=TEXT, description="Another member leads; it is named."),
    503: Content(media_type=TEXT, description="The store did not do it: look, and try again."),
    **_STRANGER,
}


def _order(path: str, summary: str, holds: Any) -> Endpoint:
    return Endpoint(
        method="POST", path=path, summary=summary, body=Content(holds=holds), replies=_ORDERED
    )


def _page(path: str, summary: str, content: Content, *parameters: Parameter) -> Endpoint:
    return Endpoint(
        method="GET",
        path=path,
        summary=summary,
        replies={200: content, **_STRANGER},
        parameters=parameters,
    )


STATUS: Final = _page("/v1/status", "Show labels, round and inputs", Content(holds=StatusPage))
MEMBERS: Final = _page(
    "/v1/members",
    "Show who may serve, or where state must live",
    Content(holds=list[MemberPage]),
    Parameter(name="service", description="Only members of this service."),
    Parameter(name="mode", description="ready (the default), target, or all."),
)
CONFIGURATION: Final = _page(
    "/v1/configuration", "Show the settings in use", Content(holds=dict[str, Any])
)
PRESTOP: Final = Endpoint(
    method="GET",
    path="/hpa/prestop",
    summary="Leave, and answer when nothing is held any more",
    replies={
        200: Content(media_type=TEXT, description="This member holds nothing."),
        504: Content(
            media_type=TEXT, description="It still holds something, and goes on draining."
        ),
        400: Content(media_type=TEXT, description="The time makes no sense."),
        **_STRANGER,
    },
    parameters=(Parameter(name="timeout", description="In seconds; 60 if it is left out."),),
)
REPLICAS: Final = _order("/v1/replicas", "Expect so many replicas, whatever the load", OrderAsked)
SCHEDULE: Final = _order("/v1/schedule", "Let the running round come later", ScheduleAsked)
SHUTDOWN: Final = _order("/v1/shutdown", "Let this member leave", ShutdownAsked)
RELEASE: Final = _order("/v1/release-protection", "Give up what protects a number", ReleaseAsked)
THAW: Final = _order("/v1/thaw", "Let the workload shrink after a wrong victim", ThawAsked)
RECOVERED: Final = _order("/v1/recovered", "Say what this run has recovered", RecoveredAsked)


def _public(path: str, summary: str, content: Content = _WORDS) -> Endpoint:
    failing = {503: Content(media_type=TEXT, description="Which check fails, and why.")}
    return Endpoint(
        method="GET",
        path=path,
        summary=summary,
        replies={200: content, **failing},
        parameters=(Parameter(name="verbose", description="Lists the checks.", is_flag=True),),
        is_public=True,
    )


HEALTHZ: Final = _public("/healthz", "Say whether the process answers")
LIVEZ: Final = _public("/livez", "Say whether the process answers")
READYZ: Final = _public("/readyz", "Say whether it follows the store")
VERSION: Final = _public("/version", "Say which version runs", Content(holds=Version))
METRICS: Final = _public("/metrics", "Show its metrics")
OPENAPI: Final = _public("/openapi.json", "Show this document", Content(holds=dict[str, Any]))

ENDPOINTS: Final = (
    STATUS,
    MEMBERS,
    CONFIGURATION,
    PRESTOP,
    REPLICAS,
    SCHEDULE,
    SHUTDOWN,
    RELEASE,
    THAW,
    RECOVERED,
    HEALTHZ,
    LIVEZ,
    READYZ,
    VERSION,
    METRICS,
    OPENAPI,
)


def openapi() -> dict[str, Any]:
    """Return the document of the API."""
    return document(ABOUT, ENDPOINTS)
