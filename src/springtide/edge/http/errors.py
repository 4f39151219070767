"""Faults of HTTP calls, sorted by what the caller can do about them.

HttpFault
├── Unreachable   no connection, or it broke: start the server, correct its address or certificate
├── TimedOut      no whole answer came in time: call again later, or allow more time
├── Refused       the server answered with another code than 200: ask whoever runs it
├── TooLarge      the answer exceeds what is read into memory: ask for less
├── Malformed     the answer is not what was asked for: correct what answers
└── Unusable      certificates or a proxy with which no connection can be tried: correct the setting
"""

from springtide.base.errors import SpringtideError


class HttpFault(SpringtideError):
    """A call was not answered as it should be."""


class Unreachable(HttpFault):
    """The server could not be spoken to; the message keeps the words of the layer below."""

    def __init__(self, url: str, why: str, *, verb: str = "Post") -> None:
        super().__init__(f'{verb} "{url}": {why}')


class TimedOut(HttpFault):
    """The whole answer had not come when the time was up."""

    def __init__(self, url: str, timeout_s: float) -> None:
        super().__init__(f'Post "{url}": no answer within {timeout_s:g} s')


class Refused(HttpFault):
    """The server answered with a status other than 200."""

    def __init__(self, url: str, status: int, *, verb: str = "Post") -> None:
        super().__init__(f'{verb} "{url}": code {status}')
        self.status = status


class TooLarge(HttpFault):
    """The answer is larger than what is read into memory."""

    def __init__(self, url: str, limit_mib: int, *, verb: str = "Post") -> None:
        super().__init__(f'{verb} "{url}": the answer is larger than {limit_mib} MiB')


class Malformed(HttpFault):
    """What was answered is something else than what was asked for."""

    def __init__(self, url: str, why: str, *, verb: str = "Get") -> None:
        super().__init__(f'{verb} "{url}": {why}')


class Unusable(HttpFault):
    """A setting cannot work; `field` is its name, if it is one of the configuration."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}" if field else why)
        self.field = field
        self.why = why
