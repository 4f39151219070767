"""How it is worded that a request is not worked on: one form for filter calls, one for all others."""

from collections.abc import Callable
from typing import Final

from springtide.apps.sessions import (
    BODY_TOO_LARGE,
    BODY_TOO_SLOW,
    BUG,
    DEADLINE,
    DENIED,
    ENCODED,
    INVALID,
    OVERLOADED,
    UNKNOWN,
    UNSURE,
    Kind,
    failed,
    problem,
)
from springtide.apps.sessions import Reply as Answer
from springtide.edge.serving import Reply
from springtide.wire.simulation import ErrorClass

KINDS: Final = {
    kind.status: kind
    for kind in (
        INVALID, UNKNOWN, DENIED, BODY_TOO_SLOW, BODY_TOO_LARGE, ENCODED, OVERLOADED, BUG, UNSURE,
        DEADLINE,
    )
}  # fmt: skip
"""Problems by the status that means them."""
CLASSES: Final = {
    400: ErrorClass.MALFORMED,
    401: ErrorClass.DENIED,
    403: ErrorClass.DENIED,
    408: ErrorClass.DEADLINE_EXCEEDED,
    413: ErrorClass.TOO_LARGE,
    415: ErrorClass.INVALID,
    429: ErrorClass.OVERLOADED,
    503: ErrorClass.OVERLOADED,
    504: ErrorClass.DEADLINE_EXCEEDED,
}
"""What filter calls call the same."""
AS_THEY_ARE: Final = (401, 403, 503)
"""Who may not call is told so by the status as well: no scheduler is meant to go on by such an answer."""

Count = Callable[[str], None]
"""Counts an outcome."""


def in_problem(why: str, status: int, count: Count) -> Reply:
    """Return the refusal of a call, as a problem."""
    kind: Kind = KINDS.get(status, BUG)
    count(kind.name)
    return sent(problem(kind, why))


def in_result(why: str, status: int, count: Count) -> Reply:
    """Return the refusal of a filter call, in the body of an answer to it."""
    kind = CLASSES.get(status)
    if kind is None:
        return in_problem(why, status, count)
    count(kind)
    code = status if status in AS_THEY_ARE else 200
    return Reply(body=b"".join(failed(kind, why).pieces), status=code)


def sent(answer: Answer) -> Reply:
    """Return an answer as it is sent."""
    return Reply(body=answer.body, status=answer.status, content_type=answer.content_type)
