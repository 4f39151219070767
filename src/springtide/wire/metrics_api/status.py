"""How an API server refuses a request: `metav1.Status`, which the autoscaler shows in its conditions."""

from http import HTTPStatus
from typing import Final, Literal

import msgspec

_REASONS: Final = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class StatusDetails(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What is besides the message; 0 seconds are none."""

    retry_after_seconds: int = 0


class StatusMeta(msgspec.Struct, frozen=True):
    """The metadata of a status, which says nothing."""


class Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A refusal."""

    kind: Literal["Status"] = "Status"
    api_version: Literal["v1"] = "v1"
    metadata: StatusMeta = StatusMeta()
    status: Literal["Failure"] = "Failure"
    message: str
    reason: str
    details: StatusDetails = StatusDetails()
    code: int


def status(message: str, code: int, *, retry_after_s: int = 0) -> bytes:
    """Return the body of a refusal."""
    reason = _REASONS.get(code) or HTTPStatus(code).phrase.title().replace(" ", "")
    details = StatusDetails(retry_after_seconds=retry_after_s)
    return msgspec.json.encode(Status(message=message, reason=reason, details=details, code=code))
