"""Faults of a cluster, sorted by what the caller can do about them.

ClusterFault
├── Unusable         the kubeconfig or its credentials cannot be used: correct them
├── Unreachable      no whole answer came: check address, network and certificate
│   ├── TimedOut     it took too long
│   │   └── Silent   a watch from which nothing came: watch again
│   └── Broken       a connection that stood was cut: ask once more
├── Throttled        told to come back later: wait for `retry_after_s`
│   └── BudgetSpent  a disruption budget forbids this eviction for now
├── Failing          it answered with a fault of its own: wait, look at the server
├── Denied           an operator must grant the right: do not retry
│   └── Unknown      the credentials count for nothing: log in again
├── NotServed        the server does not know this kind: go without it
├── NotFound         there is no such object, or no longer: let go of it
├── Conflict         the object is not what we took it for: read again, decide again
│   └── AlreadyThere what was to be created exists
├── Gone             the version or continuation is too old: list again
├── Invalid          the server refuses what we sent: report it, or look at its admission
└── Malformed        the server and we disagree about the format: is this an API server?

Whether a write was applied is unknown after Unreachable and Failing; after all others it was not. Each
message names the object and says what to do.
"""

from springtide.base.errors import SpringtideError


class ClusterFault(SpringtideError):
    """A cluster did not do what was asked of it; the message says what to do."""


class Unusable(ClusterFault):
    """There is no way to even try: the settings make no sense."""


class Unreachable(ClusterFault):
    """No connection, or it broke, or the time was up."""


class TimedOut(Unreachable):
    """The answer did not come in time."""


class Silent(TimedOut):
    """A watch that was accepted, from which nothing has come, not even a bookmark."""


class Broken(Unreachable):
    """A connection that stood was cut; what was on its way may be asked for once more."""


class _Later(ClusterFault):
    """It may pass; `retry_after_s` is None where the server does not say when."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Throttled(_Later):
    """The server asks to come back later."""


class BudgetSpent(Throttled):
    """The pod may not be disturbed as long as so few of its kind are healthy."""


class Failing(_Later):
    """The server could not do what it should."""


class Denied(ClusterFault):
    """Whoever asks may not have it."""


class Unknown(Denied):
    """The server does not accept who we say we are."""


class NotServed(ClusterFault):
    """The server has no such resource."""


class NotFound(ClusterFault):
    """The server has no such object."""


class Conflict(ClusterFault):
    """The object has changed, or is another one of the same name."""


class AlreadyThere(Conflict):
    """An object of that name exists."""


class Gone(ClusterFault):
    """What a version or a continue token stands for is no longer there."""


class Invalid(ClusterFault):
    """The server does not take what it was sent."""


class Malformed(ClusterFault):
    """What came is not what an API server sends."""
