"""What a status means that is no success: one fault for each, in words that name what was asked for."""

from typing import Final

import msgspec

from springtide.edge.cluster.errors import (
    AlreadyThere,
    BudgetSpent,
    ClusterFault,
    Conflict,
    Denied,
    Failing,
    Gone,
    Invalid,
    Malformed,
    NotFound,
    NotServed,
    Throttled,
    Unknown,
)
from springtide.edge.kube.transport import Answer

_FAULTS: Final = range(500, 600)
_CONFLICT: Final = 409
_GONE: Final = 410
_EXISTS: Final = "AlreadyExists"
_BUDGET: Final = "DisruptionBudget"
_UID: Final = "metadata.uid"


class _Cause(msgspec.Struct, frozen=True):
    reason: str = ""
    field: str = ""


class _Details(msgspec.Struct, frozen=True, rename="camel"):
    causes: tuple[_Cause, ...] = ()
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True):
    """How an API server puts a refusal into words."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: _Details | None = None


_STATUS: Final = msgspec.json.Decoder(Status)


def list_fault(answer: Answer, path: str) -> ClusterFault:
    """Return why there is no list or watch of this path."""
    status, words = _read(answer)
    match answer.status:
        case 404:
            return NotServed(f"The API server has no {path}.")
        case 410:
            return Gone(f"The list of {path} can no longer be continued{words}.")
        case _:
            return _common(answer, path, status, words)


def object_fault(answer: Answer, what: str) -> ClusterFault:
    """Return why nothing came of what was asked about one object."""
    status, words = _read(answer)
    match answer.status:
        case 404:
            return NotFound(f"There is no {what}{words}. Let go of it, or create what it needs.")
        case 410:
            return Gone(f"{what} is no longer there{words}. Let go of it.")
        case code if code == _CONFLICT or _is_another(status.details):
            return _conflict(status, what, words)
        case 400 | 413 | 415 | 422:
            return Invalid(
                f"The API server does not take this for {what}{words}. "
                "Look at its admission webhooks and policies; else this is a bug to report."
            )
        case 429 if _is_budget(status.details):
            return BudgetSpent(
                f"{what} may not be evicted now{words}. "
                "Try again when more of its kind are healthy.",
                _seconds(answer, status),
            )
        case _:
            return _common(answer, what, status, words)


def told_fault(status: Status, path: str) -> ClusterFault:
    """Return the fault that a watch told instead of an object."""
    if status.code == _GONE or status.reason in {"Expired", "Gone"}:
        return Gone(f"The watch of {path} can no longer be continued{_words(status)}.")
    return _common(
        Answer(status=status.code or _FAULTS.start, body=b""), path, status, _words(status)
    )


def _conflict(status: Status, what: str, words: str) -> Conflict:
    if status.reason == _EXISTS:
        return AlreadyThere(f"{what} exists already{words}. Read it, or take another name.")
    return Conflict(f"{what} is not as it was{words}. Read it again and decide again.")


def _common(answer: Answer, what: str, status: Status, words: str) -> ClusterFault:
    match answer.status:
        case 401:
            return Unknown(
                f"The API server does not know who is asking{words}. "
                "Log in again, or use another --context."
            )
        case 403:
            return Denied(f"The API server refuses {what}{words}.")
        case 429:
            return Throttled(
                f"The API server is busy and asks to come back later{words}. Try again later.",
                _seconds(answer, status),
            )
        case code if code in _FAULTS:
            return Failing(
                f"The API server answered {what} with code {code}{words}. "
                "Look at its health, then try again.",
                _seconds(answer, status),
            )
        case code:
            return Malformed(
                f"Code {code} is no answer to {what}{words}. "
                "Check that the kubeconfig names an API server."
            )


def _read(answer: Answer) -> tuple[Status, str]:
    try:
        status = _STATUS.decode(answer.body)
    except msgspec.DecodeError:
        status = Status()
    return status, _words(status)


def _words(status: Status) -> str:
    """Return the server's own words, after a colon."""
    return f": {status.message.rstrip('. ')}" if status.message else ""


def _is_another(details: _Details | None) -> bool:
    """Return whether a patch was for another object of the same name: a uid cannot be changed."""
    return details is not None and any(each.field == _UID for each in details.causes)


def _is_budget(details: _Details | None) -> bool:
    return details is not None and any(each.reason == _BUDGET for each in details.causes)


def _seconds(answer: Answer, status: Status) -> float | None:
    """Return the seconds of the header; its other form, a date, no API server sends."""
    if answer.retry_after.isdecimal():
        return float(answer.retry_after)
    details = status.details
    return float(details.retry_after_seconds) if details and details.retry_after_seconds else None
