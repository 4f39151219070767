"""What a store tells whoever follows it, in the order in which it became known.

Each tells a whole: members and records come as all that there are. A store that lost everything, or began
anew, tells an absent status before it tells what came afterwards.
"""

from typing import Final, TypeAlias

import msgspec

from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.status import Status
from springtide.model.replicas.values import Folder

ABSENT: Final = 0
"""The revision of what is not there, and the token of a lock that is free."""


class StatusRead(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The status that is stored; None if there is none."""

    status: Status | None
    revision: int = ABSENT


class StatusDamaged(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What is stored in the place of the status cannot be read, or is of a newer schema."""

    why: str
    revision: int


class MembersRead(msgspec.Struct, frozen=True, tag=True):
    """Everybody who is there, of all workloads that the store was told to look at."""

    members: tuple[Member, ...]


class RecordsRead(msgspec.Struct, frozen=True, tag=True):
    """Who may hold state, by number."""

    records: dict[int, Record]


class ValuesRead(msgspec.Struct, frozen=True, tag=True):
    """The values of all folders that are looked at, by subkey; one that is not there was not read yet."""

    values: dict[Folder, dict[str, str]]


class NumbersRead(msgspec.Struct, frozen=True, tag=True):
    """The names of members that claimed a number, by number; who is not among them has lost it."""

    holders: dict[int, str]


class LockRead(msgspec.Struct, frozen=True, tag=True):
    """The token of whoever holds the lock, and the member's name; ABSENT if nobody does."""

    token: int
    holder: str = ""


class Confirmed(msgspec.Struct, frozen=True, tag=True):
    """All that was told is still so: the store has just said it."""


class Away(msgspec.Struct, frozen=True, tag=True):
    """The store is not heard; it is tried again, for ever."""

    why: str


StoreTold: TypeAlias = (
    StatusRead
    | StatusDamaged
    | MembersRead
    | RecordsRead
    | ValuesRead
    | NumbersRead
    | LockRead
    | Confirmed
    | Away
)
