"""The API of the guard: what it takes and what it answers; `surface` puts answers behind it."""

from typing import Any, Final

from prometheus_client import CONTENT_TYPE_LATEST

from springtide.edge.serving import CROWDED
from springtide.wire.openapi import TEXT, Content, Endpoint, Parameter

VALIDATE: Final = Endpoint(
    method="POST",
    path="/validate",
    summary="Review a change of replicas",
    description="An AdmissionReview of admission.k8s.io, v1 or v1beta1.",
    body=Content(holds=dict[str, Any]),
    replies={200: Content(holds=dict[str, Any]), **CROWDED},
)
_FAILING: Final = {503: Content(media_type=TEXT, description="Which check fails, and why.")}
_VERBOSE: Final = (Parameter(name="verbose", description="Lists the checks.", is_flag=True),)


def _page(path: str, summary: str, *, media_type: str = TEXT, is_probe: bool = False) -> Endpoint:
    return Endpoint(
        method="GET",
        path=path,
        summary=summary,
        replies={200: Content(media_type=media_type), **(_FAILING if is_probe else {})},
        parameters=_VERBOSE if is_probe else (),
        is_public=True,
    )


HEALTHZ: Final = _page("/healthz", "Say whether the process answers", is_probe=True)
LIVEZ: Final = _page("/livez", "Say whether the process answers", is_probe=True)
READYZ: Final = _page("/readyz", "Say whether it can be asked", is_probe=True)
METRICS: Final = _page("/metrics", "Show the guard's own metrics", media_type=CONTENT_TYPE_LATEST)
PROBES: Final = (HEALTHZ, LIVEZ, READYZ)
