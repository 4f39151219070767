"""What one member knows at one moment: a whole that never changes, safe to read from any thread.

The controller makes a new one after every change. Metrics, the admin pages and the application's own
questions read it and never wait for anybody.
"""

import msgspec

from springtide.engine.replicas.phases import Phase
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.member import Member
from springtide.model.replicas.status import Status


class PolicyShown(msgspec.Struct, frozen=True, kw_only=True):
    """A policy's last answer: its value, and for each direction why it does not count, if it does not.

    `pulled_ms` is when it came, counted since 1970; None before the first answer.
    """

    name: str
    query: str = ""
    value: float | None = None
    pulled_ms: int | None = None
    up_unknown: str = ""
    down_unknown: str = ""
    words: str = ""
    is_checked: bool = True
    up_per_replica: int = 0
    down_per_replica: int = 0
    unknown_counts: dict[str, int] = {}


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What has happened so often since the start of this member."""

    label_transitions: dict[tuple[str, str], int] = {}
    """By label and the value it got."""
    backend_errors: dict[str, int] = {}
    """By operation."""
    exits: dict[str, int] = {}
    """By kind, drained or forced."""
    wrong_victims: int = 0


class Complained(msgspec.Struct, frozen=True):
    """What an operator was told, and when."""

    at_ms: int
    words: str


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of one member; times are milliseconds since 1970."""

    name: str
    boot: str = ""
    at_ms: int = 0
    mode: Mode = Mode.ACTIVE
    is_enabled: bool = False
    index: int | None = None
    has_ordinal: bool = False
    is_target: bool = False
    is_ready: bool = False
    is_leader: bool = False
    is_stopping: bool = False
    has_ready_check: bool = False
    has_stateful_check: bool = False
    status: Status | None = None
    status_confirmed_ms: int | None = None
    store_fault: str = ""
    """Why the store does not answer; empty while it does."""
    phase: Phase | None = None
    expected: int | None = None
    """The replicas that others are to scale to; None where this member may not say."""
    stateful_index: int | None = 0
    """The floor that this member exports; None when it exports none any more."""
    mask: int = 0
    overdue_ms: int = 0
    clock_offset_ms: int | None = None
    leader: str = ""
    suggestion_up: int | None = None
    suggestion_down: int | None = None
    why: str = ""
    next_evaluation_ms: int | None = None
    ordered: int | None = None
    floor: int = 0
    complaints: tuple[Complained, ...] = ()
    policies: tuple[PolicyShown, ...] = ()
    members: tuple[Member, ...] = ()
    tally: Tally = Tally()

    def status_age_s(self, now_ms: int) -> float | None:
        """Return how long ago the store last said that the status is what it is."""
        if self.status_confirmed_ms is None:
            return None
        return max(0, now_ms - self.status_confirmed_ms) / 1000
