"""The port: where the members of a workload meet, whichever store it is.

It holds one status document, one lock, the members that live, the records of who may hold state, and values of
the application's own.
Methods return when the store has done it, and raise a StoreFault otherwise; each is tried once.
"""

from collections.abc import Callable, Set
from typing import Final, Never, Protocol, TypeAlias

import msgspec

from springtide.edge.store.fencing import Offer
from springtide.edge.store.told import StatusDamaged, StatusRead, StoreTold
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.values import Folder, ValueKey

Deliver: TypeAlias = Callable[[StoreTold], None]
"""Takes what a store tells, at once; it never waits."""


class Held(msgspec.Struct, frozen=True, gc=False):
    """The lock is ours; tokens of later holders are larger."""

    token: int


class Store(Protocol):
    """A store of one workload, used by one member."""

    async def follow(self, deliver: Deliver) -> Never:
        """Tell what there is and then what changes, until cancelled; faults are told, not raised.

        Keeps the member of `join` alive meanwhile, and registers it again, with its labels, after a loss.
        Confirms every CONFIRM_S at the latest that what was told is still so.
        """
        ...

    async def join(self, member: Member) -> None:
        """Register this member, or change what others see of it; one that is equal is not written.

        Where it fails, the member is registered as soon as the store is there again.
        """
        ...

    async def leave(self) -> None:
        """Take this member out."""
        ...

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Take the lock if it is free; None if somebody holds it."""
        ...

    async def renew(self, token: int) -> None:
        """Hold the lock for another while, or raise Conflict: somebody else may have it."""
        ...

    async def release(self, token: int) -> None:
        """Give the lock back, if this token still holds it."""
        ...

    async def put_status(self, offer: Offer) -> int:
        """Write the status and return its revision, or raise Conflict as `fencing` says."""
        ...

    async def read_status(self) -> StatusRead | StatusDamaged:
        """Return the status as it is now, not as some replica had it."""
        ...

    async def put_record(self, index: int, record: Record) -> None:
        """Write who may hold state under a number, durably: it outlives the member."""
        ...

    async def delete_record(self, index: int, boot: str) -> None:
        """Delete the record of this run, and of no other."""
        ...

    def look_at(self, folders: Set[Folder]) -> None:
        """Tell the values of these folders from now on, and of no others; raises Denied where that cannot be."""
        ...

    async def put_value(self, key: ValueKey, text: str) -> int:
        """Write a value, or delete it where the text is empty, and return the revision; or raise Oversized."""
        ...

    async def claim_index(self, index: int) -> bool:
        """Take a number for the member that joined, for as long as it lives; False if another one has it.

        Raises Denied where members have no leases that a number could hang on.
        """
        ...

    async def set_cost(self, member: str, cost: int) -> None:
        """Say how cheap a pod is to its controller, or raise Denied where members are no pods."""
        ...

    async def replicas(self) -> int | None:
        """Return how many replicas the workload has by its own account; None if nobody can tell."""
        ...


CONFIRM_S: Final = 20.0
MEMBERS_S_MIN: Final = 0.1
"""So long members are gathered before they are told."""
