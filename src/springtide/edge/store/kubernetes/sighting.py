"""A Lease as it was last seen, and for how long nobody has changed it by our own clock.

Times in a Lease are of other clocks and never looked at: it is free when nobody holds it, or when it was not
seen to change for as long as it is to last. A token is how often the Lease has changed hands.
"""

from springtide.base.versions import is_older
from springtide.edge.store.told import ABSENT, LockRead
from springtide.model.lease import Lease

FIRST = 1
"""The token of a holder who has not counted: none of ours."""


class Sighting:
    """One Lease."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self._seen_s = 0.0

    def see(self, lease: Lease | None, now_s: float) -> None:
        """Take notice of what the server has just answered."""
        if lease != self.lease:
            self.lease, self._seen_s = lease, now_s

    def hear(self, lease: Lease | None, now_s: float) -> None:
        """Take notice of what a watch tells, which may be behind what was answered."""
        known = self.lease
        if lease is None or known is None or not is_older(lease.version, known.version):
            self.see(lease, now_s)

    @property
    def ends_s(self) -> float | None:
        """Return when it is free unless somebody changes it, None if it is already."""
        if self.lease is None or not self.lease.holder:
            return None
        return self._seen_s + self.lease.duration_s

    def is_free(self, now_s: float) -> bool:
        """Return whether it may be taken."""
        return self.ends_s is None or now_s >= self.ends_s

    def read(self, now_s: float) -> LockRead:
        """Return who holds it."""
        if self.lease is None or self.is_free(now_s):
            return LockRead(ABSENT)
        return LockRead(token_of(self.lease), self.lease.holder)


def token_of(lease: Lease | None) -> int:
    """Return the token of whoever holds a Lease, or held it last."""
    return ABSENT if lease is None else max(FIRST, lease.transitions)
