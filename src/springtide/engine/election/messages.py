"""What an election is told, and what it wants done. All times are of one clock that never runs back."""

from typing import TypeAlias

import msgspec

from springtide.model.lease import Lease


class Election(msgspec.Struct, frozen=True, kw_only=True):
    """Which lease, who we are in it, and how patient everybody is.

    `identity` belongs to one run of one process: who finds it in the lease takes the lease for its own.
    Whoever leads stops after `renewal_s_max` without a renewal, which is sooner than others take over,
    `duration_s` after they saw the last one.
    """

    namespace: str
    name: str
    identity: str
    duration_s: int = 15
    renewal_s_max: float = 10.0
    retry_s: float = 2.0

    @property
    def answer_s_max(self) -> float:
        """Return how long to wait for an answer, so that there is time to ask again."""
        return self.renewal_s_max / 2


class Tick(msgspec.Struct, frozen=True, tag=True):
    """It is now so late."""

    now_s: float


class LeaseRead(msgspec.Struct, frozen=True, tag=True):
    """What was asked for by `ReadLease`; None if there is no such lease."""

    lease: Lease | None
    now_s: float


class LeaseWritten(msgspec.Struct, frozen=True, tag=True):
    """The lease that was asked for by `WriteLease`, as it is now."""

    lease: Lease
    now_s: float


class LeaseUnknown(msgspec.Struct, frozen=True, tag=True):
    """What was asked for failed, or nobody knows what came of it; a conflict is such a failure."""

    now_s: float


class LeaseSeen(msgspec.Struct, frozen=True, tag=True):
    """A watch shows the lease, unasked; None if it was deleted."""

    lease: Lease | None
    now_s: float


class Stopped(msgspec.Struct, frozen=True, tag=True):
    """The process is about to end."""

    now_s: float


Event: TypeAlias = Tick | LeaseRead | LeaseWritten | LeaseUnknown | LeaseSeen | Stopped


class ReadLease(msgspec.Struct, frozen=True, tag=True):
    """Read the lease; without an answer within the time it is unknown."""

    within_s: float


class WriteLease(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Write the lease with the time as its renewal, and create it if it has no version.

    `takes` says that its holder is a new one: then the time is that of the acquisition, too.
    """

    lease: Lease
    takes: bool
    within_s: float


class WakeAt(msgspec.Struct, frozen=True, tag=True):
    """Send a tick then, or by chance a little later; the latest one of these replaces the others."""

    at_s: float


class Led(msgspec.Struct, frozen=True, tag=True):
    """We lead from now on; `transitions` is higher for each leader."""

    transitions: int


class Lost(msgspec.Struct, frozen=True, tag=True):
    """We lead no longer: stop at once what only a leader does."""

    why: str


class Finished(msgspec.Struct, frozen=True, tag=True):
    """Nothing is left to do before the process ends."""


Command: TypeAlias = ReadLease | WriteLease | WakeAt | Led | Lost | Finished
