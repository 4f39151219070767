"""What rounds are told, and what they want done."""

from typing import TypeAlias

import msgspec

from springtide.model.replicas.rules import Schedule
from springtide.model.replicas.status import Status


class StatusSeen(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What the store holds; None if it holds nothing.

    A store that began anew, with its revisions from the first, is first shown as None.
    """

    status: Status | None
    revision: int
    now_ms: int
    cause: str


class StatusUnreadable(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The store holds something in the place of the status that nobody can read; it is written anew."""

    why: str
    revision: int
    cause: str


class Decided(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An evaluation is done; `observed` is how many members there are, for the first status.

    Where leaving is waited for, `are_victims_drained` ends a round that shrinks.
    """

    replicas: int
    observed: int
    now_ms: int
    why: str
    cause: str
    is_down_unknown: bool = False
    are_victims_drained: bool = False


class Rescheduled(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An operator wants the running round later."""

    wanted: Schedule
    now_ms: int
    cause: str


class Written(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The store took the status."""

    revision: int
    cause: str


class NotWritten(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Somebody else wrote, or nobody knows what came of it."""

    cause: str


class Begun(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """This member leads from now on, and has written nothing yet."""

    cause: str


class PutStatus(msgspec.Struct, frozen=True):
    """Write this status if the store still holds this revision; `Written` or `NotWritten` answers.

    Where the answer is late it is `NotWritten`: nothing else is decided before.
    """

    status: Status
    revision: int


class ReadStatus(msgspec.Struct, frozen=True):
    """Read the status again."""


class PrimeWindows(msgspec.Struct, frozen=True):
    """Begin the windows anew with this number."""

    expect: int


class Complain(msgspec.Struct, frozen=True):
    """Tell an operator."""

    words: str


Event: TypeAlias = (
    StatusSeen | StatusUnreadable | Decided | Rescheduled | Written | NotWritten | Begun
)
Command: TypeAlias = PutStatus | ReadStatus | PrimeWindows | Complain
