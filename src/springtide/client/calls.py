"""The calls as values: what is sent, and how what comes back is read. Nothing is sent here.

Pods and nodes are plain objects as the API server has them, or JSON texts of such.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from springtide.client import errors
from springtide.wire.simulation import answers, calls
from springtide.wire.simulation.shapes import SimulationResult

T = TypeVar("T")

Object: TypeAlias = Mapping[str, Any] | bytes
"""A Kubernetes object."""

FILTER: Final = "/filter-simulation"
ESTIMATE: Final = "/v1/estimate"
SESSIONS: Final = "/v1/sessions"
OPERATION_BYTES: Final = 16
_BY_STATUS: Final[Mapping[int, type[errors.ProblemFault]]] = {
    401: errors.Denied,
    403: errors.Denied,
    404: errors.SessionGone,
    408: errors.TimedOut,
    410: errors.SessionGone,
    429: errors.Overloaded,
    503: errors.Overloaded,
    504: errors.TimedOut,
}
_MOVED: Final = "/revision-moved"
_BY_CLASS: Final[Mapping[str, tuple[type[errors.ProblemFault], int]]] = {
    "Denied": (errors.Denied, 403),
    "Overloaded": (errors.Overloaded, 429),
    "DeadlineExceeded": (errors.TimedOut, 504),
}
"""What filter calls say in the body of a 200."""
_BAD_REQUEST: Final = 400


class Call(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """One call; `answer` is the type of what comes back, None where nothing does."""

    method: str
    path: str
    body: bytes | None = None
    answer: type[T] | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    body: bytes
    retry_after: str = ""


def raw(value: Object) -> msgspec.Raw:
    """Return an object as it goes into a body."""
    return msgspec.Raw(value if isinstance(value, bytes) else msgspec.json.encode(value))


def operation() -> str:
    """Return an id that no other change has."""
    return secrets.token_hex(OPERATION_BYTES)


def filtering(
    pod: Object, nodes: Sequence[Object], *, keeps_dynamic: bool
) -> Call[SimulationResult]:
    """Return the call that asks which of these nodes take a pod."""
    body = {"Pod": raw(pod), "Nodes": {"items": [raw(each) for each in nodes]}}
    said = f"?dynamicFields={calls.DynamicFields.KEEP}" if keeps_dynamic else ""
    return Call(
        method="POST",
        path=f"{FILTER}{said}",
        body=msgspec.json.encode(body),
        answer=SimulationResult,
    )


def estimating(said: calls.Estimate) -> Call[answers.EstimateAnswer]:
    """Return the call that asks how many nodes pods need."""
    body = msgspec.json.encode(said)
    return Call(method="POST", path=ESTIMATE, body=body, answer=answers.EstimateAnswer)


def opening(said: calls.OpenSession) -> Call[answers.SessionAnswer]:
    """Return the call that opens a session."""
    body = msgspec.json.encode(said)
    return Call(method="POST", path=SESSIONS, body=body, answer=answers.SessionAnswer)


def of_session(name: str, verb: str, said: msgspec.Struct, answer: type[T]) -> Call[T]:
    """Return a call of a session."""
    path = f"{SESSIONS}/{name}:{verb}"
    return Call(method="POST", path=path, body=msgspec.json.encode(said), answer=answer)


def looking(name: str) -> Call[answers.SessionContent]:
    """Return the call that asks what is placed where."""
    return Call(method="GET", path=f"{SESSIONS}/{name}", answer=answers.SessionContent)


def closing(name: str) -> Call[None]:
    """Return the call that ends a session."""
    return Call(method="DELETE", path=f"{SESSIONS}/{name}")


def read(call: Call[T], answer: Answer) -> T:
    """Return what was answered, or raise a SimulationFault."""
    if answer.status >= _BAD_REQUEST:
        raise _problem(answer)
    if call.answer is None:
        return None  # type: ignore[return-value]  # such a call is one of None
    try:
        found = msgspec.json.decode(answer.body, type=call.answer)
    except msgspec.MsgspecError as fault:
        raise errors.Unreachable(
            f"{call.path}: what came is no answer ({fault}). Check that the address is the service's."
        ) from fault
    if isinstance(found, SimulationResult) and found.error:
        raise _told(found.error, answer)
    return found


def _problem(answer: Answer) -> errors.ProblemFault:
    try:
        problem = msgspec.json.decode(answer.body, type=answers.Problem)
    except msgspec.MsgspecError:
        words = _words(answer)
        problem = answers.Problem(type="about:blank", title="", status=answer.status, detail=words)
    kind = _BY_STATUS.get(answer.status, errors.Invalid)
    if problem.type.endswith(_MOVED):
        kind = errors.RevisionMoved
    return kind(problem, _seconds(answer))


def _words(answer: Answer) -> str:
    """Return what is said of a filter call that is refused, or else the body as it is."""
    try:
        return msgspec.json.decode(answer.body, type=SimulationResult).error
    except msgspec.MsgspecError:
        return answer.body.decode("utf-8", "replace").strip() or f"code {answer.status}"


def _told(error: str, answer: Answer) -> errors.ProblemFault:
    name, _, detail = error.partition(": ")
    kind, status = _BY_CLASS.get(name, (errors.Invalid, 400))
    problem = answers.Problem(type="about:blank", title=f"{name}.", status=status, detail=detail)
    return kind(problem, _seconds(answer))


def _seconds(answer: Answer) -> float | None:
    return float(answer.retry_after) if answer.retry_after.isdecimal() else None
