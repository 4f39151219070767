"""What goes back to a caller: a status and a body; and how faults become problem bodies (RFC 9457)."""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.engine.simulation import errors
from springtide.wire.errors import DocumentFault
from springtide.wire.simulation import InvalidBody
from springtide.wire.simulation.answers import Problem

JSON: Final = "application/json"
PROBLEM_JSON: Final = "application/problem+json"
PROBLEMS: Final = "https://springtide.io/problems/"
"""What a problem's type begins with; it names the problem and need not lead anywhere."""


ANSWERED: Final = "answered"


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What is worth counting about an answer.

    `pod` is the one that was asked about, if it was one; `pods` is how many were, of so many `nodes` each.
    Of the nodes that were looked at, `anew` were not remembered, and `replays` carried pods that were placed
    again. `reasons` are the texts of refusals with the nodes that they stand for.
    """

    pod: str = ""
    pods: int = 0
    nodes: int = 0
    anew: int = 0
    replays: int = 0
    reasons: Mapping[str, int] = {}


NOTHING: Final = Tally()


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One answer; `outcome` is what is counted: `answered`, or the name of the problem."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    outcome: str = ANSWERED
    tally: Tally = NOTHING


class Kind(msgspec.Struct, frozen=True):
    """A kind of problem: its name, its status, and what it is in a few words."""

    name: str
    status: int
    title: str


INVALID: Final = Kind("invalid-request", 400, "The call cannot be read or contradicts itself.")
OVERLOADED: Final = Kind("overloaded", 429, "Too much is asked at once.")
DEADLINE: Final = Kind("deadline-exceeded", 504, "The call took longer than it may.")
DENIED: Final = Kind("denied", 403, "The client may not call.")
BODY_TOO_LARGE: Final = Kind("body-too-large", 413, "The body is larger than it may be.")
BODY_TOO_SLOW: Final = Kind("body-too-slow", 408, "The body took longer than it may.")
ENCODED: Final = Kind("encoded", 415, "The body is encoded in a way that is not read.")
UNKNOWN: Final = Kind("unknown-client", 401, "The client does not show who it is.")
BUG: Final = Kind("internal", 500, "Something is wrong here.")
UNSURE: Final = Kind("unsure", 503, "It cannot be found out now who the client is.")

KINDS: Final[Mapping[type[Exception], Kind]] = {
    errors.NoSuchSession: Kind("no-such-session", 404, "There is no such session."),
    errors.SessionEnded: Kind("session-ended", 410, "The session is gone."),
    errors.RevisionMoved: Kind("revision-moved", 409, "The session is at another revision."),
    errors.OperationReused: Kind("operation-reused", 409, "The id of the operation is taken."),
    errors.Contradiction: Kind("contradiction", 422, "The call says what cannot be."),
    errors.TooLarge: Kind("too-large", 413, "A bound of a call or a session is reached."),
    errors.TooMany: Kind("too-many", 429, "There are as many sessions as there may be."),
}
"""How faults of the engine are told."""


def answered(answer: msgspec.Struct, *, tally: Tally = NOTHING) -> Reply:
    """Return the reply with this answer."""
    return Reply(body=msgspec.json.encode(answer), tally=tally)


def problem(kind: Kind, detail: str, *, field: str = "", revision: int | None = None) -> Reply:
    """Return the reply that says why there is no answer."""
    said = Problem(
        type=PROBLEMS + kind.name,
        title=kind.title,
        status=kind.status,
        detail=detail,
        field=field,
        revision=revision,
    )
    return Reply(
        body=msgspec.json.encode(said),
        status=kind.status,
        content_type=PROBLEM_JSON,
        outcome=kind.name,
    )


def refused(fault: errors.SimulationFault | DocumentFault) -> Reply:
    """Return the reply to a call that raised this fault."""
    kind = KINDS.get(type(fault), INVALID)
    field = fault.field if isinstance(fault, InvalidBody) else ""
    revision = fault.revision if isinstance(fault, errors.RevisionMoved) else None
    return problem(kind, str(fault), field=field, revision=revision)
