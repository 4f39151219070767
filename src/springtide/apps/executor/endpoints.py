"""The pages of the executor: probes, metrics, and the last decision in words."""

from typing import Final

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST

from springtide.apps.executor.driver import Given
from springtide.model.replicas.execution import Node
from springtide.wire.openapi import TEXT, Content, Endpoint, Parameter


class Wished(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted, null where it is unknown; `why` says why."""

    generation: int | None
    expect: int | None
    floor: int | None
    ready: list[int] | None
    spoken: int | None
    why: str


class Standing(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the executor stands, and the words for it."""

    workload: str
    executor: str
    phase: str
    why: str
    desired: int | None
    observed: int | None
    generation: int
    wish: Wished
    members: list[Node]
    orders: list[Given]


_PROBE: Final = {
    200: Content(media_type=TEXT),
    503: Content(media_type=TEXT, description="Which check fails, and why."),
}
_VERBOSE: Final = (Parameter(name="verbose", description="Lists the checks.", is_flag=True),)


def _page(path: str, summary: str, content: Content) -> Endpoint:
    return Endpoint(
        method="GET", path=path, summary=summary, replies={200: content}, is_public=True
    )


def _probe(path: str, summary: str) -> Endpoint:
    return Endpoint(
        method="GET",
        path=path,
        summary=summary,
        replies=_PROBE,
        parameters=_VERBOSE,
        is_public=True,
    )


HEALTHZ: Final = _probe("/healthz", "Say whether the process answers")
READYZ: Final = _probe("/readyz", "Say whether members can be seen")
METRICS: Final = _page(
    "/metrics", "Show the executor's own metrics", Content(media_type=CONTENT_TYPE_LATEST)
)
STATUS: Final = _page("/v1/status", "Explain the last decision", Content(holds=Standing))
