"""What the labels of one member are told, and what they want done."""

from enum import StrEnum
from typing import TypeAlias

import msgspec

from springtide.model.replicas.status import Status


class Check(StrEnum):
    """What a callback of the application says; one that fails or is late says that nobody knows."""

    ABSENT = "Absent"
    YES = "Yes"
    NO = "No"
    UNKNOWN = "Unknown"


class Looked(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """It is now so late, and the callbacks say this."""

    now_ms: int
    cause: str
    ready: Check = Check.ABSENT
    stateful: Check = Check.ABSENT


class StatusKnown(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """This is the status to follow."""

    status: Status
    cause: str


class StatusLost(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The store is away, or the status was deleted."""

    cause: str


class IndexKnown(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The member's number, counted from one; None if it has no place among the members."""

    index: int | None
    cause: str


class StopAsked(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The member is to stop; without offsets the schedule of rounds says when, before a stop."""

    now_ms: int
    cause: str
    is_ahead: bool = False
    target_offset_ms: int | None = None
    ready_offset_ms: int | None = None


class ShutdownPlanned(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An operator wants this member to leave at this time."""

    at_ms: int
    cause: str


class PublishLabels(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Write both labels, before anybody is told."""

    is_target: bool
    is_ready: bool


class TargetChanged(msgspec.Struct, frozen=True, gc=False):
    """Tell the application whether new state belongs here."""

    is_target: bool


class ReadyChanged(msgspec.Struct, frozen=True, gc=False):
    """Tell the application whether this member may serve."""

    is_ready: bool


class Protect(msgspec.Struct, frozen=True, gc=False):
    """Write down, durably, that this number may hold state."""

    index: int


class Drained(msgspec.Struct, frozen=True, gc=False):
    """This number holds no state any more: its durable record may go."""

    index: int


class WarnUnprotected(msgspec.Struct, frozen=True, gc=False):
    """Tell an operator, once, that nothing says whether this member holds state."""


Event: TypeAlias = Looked | StatusKnown | StatusLost | IndexKnown | StopAsked | ShutdownPlanned
Command: TypeAlias = (
    PublishLabels | TargetChanged | ReadyChanged | Protect | Drained | WarnUnprotected
)
