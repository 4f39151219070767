"""The simulation service without its transport: bytes of calls to replies.

`filter_simulation` answers a call without state, `Service` every call there is; `rules` sets up what they go
by. Whoever serves them adds sockets, identities, limits of rates and bodies, deadlines, and the time.
"""

from springtide.apps.sessions.filtering import FilterAnswer, failed, filter_simulation
from springtide.apps.sessions.replies import (
    ANSWERED,
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
    Reply,
    Tally,
    problem,
)
from springtide.apps.sessions.rules import Rules, rules
from springtide.apps.sessions.service import Moment, Service

__all__ = [
    "ANSWERED",
    "BODY_TOO_LARGE",
    "BODY_TOO_SLOW",
    "BUG",
    "DEADLINE",
    "DENIED",
    "ENCODED",
    "INVALID",
    "OVERLOADED",
    "UNKNOWN",
    "UNSURE",
    "FilterAnswer",
    "Kind",
    "Moment",
    "Reply",
    "Rules",
    "Service",
    "Tally",
    "failed",
    "filter_simulation",
    "problem",
    "rules",
]
