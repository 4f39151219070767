"""Faults of the API server, sorted by what the caller can do about them.

KubeError
├── Unusable     the kubeconfig or its credentials cannot be used: correct them
├── Unreachable  no whole answer came: check address, network and certificate
│   └── Broken   a connection that stood was cut: ask once more
├── Throttled    told to wait for longer than we wait: try again later
├── Failing      it answered with a fault of its own, again and again: look at the server
├── Denied       an operator must grant the right: do not retry
│   └── Unknown  the credentials count for nothing: log in again
├── NotServed    the server does not know this kind: go without it
├── Gone         the list can no longer be continued: start it again
└── Malformed    the server and we disagree about the format: is this an API server?
"""

from springtide.base.errors import SpringtideError


class KubeError(SpringtideError):
    """A cluster was not read as it should be; the message says what to do."""


class Unusable(KubeError):
    """There is no way to even try: the settings make no sense."""


class Unreachable(KubeError):
    """No connection, or it broke, or the time was up."""


class Throttled(KubeError):
    """The server asks to come back later; `retry_after_s` is None where it does not say when."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Failing(KubeError):
    """The server could not do what it should; `retry_after_s` as in Throttled."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Broken(Unreachable):
    """A connection that stood was cut; what was on its way may be asked for once more."""


class Denied(KubeError):
    """Whoever asks may not have it."""


class Unknown(Denied):
    """The server does not accept who we say we are."""


class NotServed(KubeError):
    """The server has no such resource."""


class Gone(KubeError):
    """What a continue token stands for is no longer there."""


class Malformed(KubeError):
    """What came is no list of objects."""
