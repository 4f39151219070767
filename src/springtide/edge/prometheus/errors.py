"""Faults of queries, sorted by what the caller can do about them.

PrometheusFault
├── Unreachable   no connection, or it broke: ask again later, look at address and certificate
├── TimedOut      no whole answer came in time: ask again later
├── Crowded       too many queries are under way: ask again later
├── Refused       it was answered that there is no answer; `kind` is bad_data, execution, timeout, ...
├── TooLarge      the answer is larger than what is read into memory: ask for less
├── Malformed     what answers does not speak the API: correct the address
└── Unusable      the token cannot be read: mount its file
"""

from springtide.base.errors import SpringtideError


class PrometheusFault(SpringtideError):
    """A query came to nothing."""


class Unreachable(PrometheusFault):
    """There was nobody to ask."""


class TimedOut(PrometheusFault):
    """The answer had not come when the time was up."""


class Crowded(PrometheusFault):
    """There was no turn for it in time."""


class Refused(PrometheusFault):
    """The query was not answered; `kind` is the API's own word, `http_NNN` where it has none."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"The query was refused ({kind}): {why}")
        self.kind = kind


class TooLarge(PrometheusFault):
    """The answer does not fit."""


class Malformed(PrometheusFault):
    """The answer is none of the API's."""


class Unusable(PrometheusFault):
    """A query cannot even be tried."""
