"""The simulation service without its transport: bytes of calls to replies.

`filter_simulation` answers a call without state, `Service` every call there is; `rules` sets up what they go
by. Whoever serves them adds sockets, identities, limits of rates and bodies, deadlines, and the time.
"""

from springtide.apps.sessions.filtering import FilterAnswer, failed, filter_simulation
from springtide.apps.sessions.replies import (
    BODY_TOO_LARGE,
    DEADLINE,
    DENIED,
    INVALID,
    OVERLOADED,
    Kind,
    Reply,
    problem,
)
from springtide.apps.sessions.rules import Rules, rules
from springtide.apps.sessions.service import Moment, Service

__all__ = [
    "BODY_TOO_LARGE",
    "DEADLINE",
    "DENIED",
    "INVALID",
    "OVERLOADED",
    "FilterAnswer",
    "Kind",
    "Moment",
    "Reply",
    "Rules",
    "Service",
    "failed",
    "filter_simulation",
    "problem",
    "rules",
]
