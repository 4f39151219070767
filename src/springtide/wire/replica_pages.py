"""What a member shows of itself as JSON: its labels, its round, what it decided and why.

Times are RFC 3339 in UTC. Programs may read it: fields are added and never change their meaning.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Page(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of the page."""


class RoundPage(_Page, frozen=True, kw_only=True):
    """The round that holds, and its three times."""

    generation: int
    phase: str
    current: int
    expect: int
    start: str
    end: str
    scaling: str
    reason: str
    controller: str
    written: str


class InputPage(_Page, frozen=True, kw_only=True):
    """One policy's last answer, and why it does not count, if it does not."""

    policy: str
    value: float | None = None
    at: str = ""
    up_per_replica: int = 0
    down_per_replica: int = 0
    up_unknown: str = ""
    down_unknown: str = ""
    why: str = ""
    is_checked: bool = True


class MemberPage(_Page, frozen=True, kw_only=True):
    """One member as the others see it."""

    name: str
    index: int | None = None
    is_target: bool = False
    is_ready: bool = False
    is_stopping: bool = False
    is_alive: bool = True
    address: str = ""
    service: str = ""


class ComplaintPage(_Page, frozen=True, kw_only=True):
    """What an operator should know, and since when."""

    at: str
    message: str


class StatusPage(_Page, frozen=True, kw_only=True):
    """One moment of one member."""

    name: str
    at: str
    mode: str
    is_enabled: bool
    index: int | None = None
    is_target: bool
    is_ready: bool
    is_leader: bool
    is_stopping: bool
    leader: str = ""
    expected: int | None = None
    stateful_index: int | None = None
    floor: int = 0
    status_age_seconds: float | None = None
    store_fault: str = ""
    drain_overdue_seconds: float = 0.0
    clock_offset_seconds: float | None = None
    has_ready_check: bool = False
    has_stateful_check: bool = False
    ordered: int | None = None
    suggested_up: int | None = None
    suggested_down: int | None = None
    why: str = ""
    next_evaluation: str = ""
    round: RoundPage | None = None
    inputs: tuple[InputPage, ...] = ()
    members: tuple[MemberPage, ...] = ()
    complaints: tuple[ComplaintPage, ...] = ()


class OrderAsked(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """So many replicas are to be expected; null takes the order back."""

    replicas: int | None
    force: bool = False


class ScheduleAsked(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The running round is to start, end and scale so many seconds after each other, at the earliest."""

    start_seconds: float = 0.0
    end_seconds: float = 0.0
    scaling_seconds: float = 0.0


class ShutdownAsked(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """This member is to leave in so many seconds."""

    in_seconds: float = 0.0


class ReleaseAsked(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """What protects this number is given up; `operator` is who answers for it."""

    index: int
    operator: str


class ThawAsked(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """Somebody has seen why a member went that served; `operator` is who answers for it."""

    operator: str


class RecoveredAsked(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The application says whether this run has the state of the run before it."""

    holds_state: bool


class Said(_Page, frozen=True, kw_only=True):
    """What came of an order."""

    message: str


def moment(at_ms: int | None) -> str:
    """Return a time as it is shown; empty where there is none."""
    if at_ms is None:
        return ""
    at = _EPOCH + timedelta(milliseconds=at_ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
