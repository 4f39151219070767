"""What one member shows of itself in metrics, from what it knows at a moment.

Who holds the lock never takes back the number of replicas to scale to. A follower shows it only as
long as it heard of the status lately, so that a member that is cut off does not hold others up for
good. The number of a member that may hold state is shown until it serves no more, and then as zero
for as long as it takes until everybody has seen it.
"""

from typing import Final

import msgspec

from springtide.engine.replicas.labels import Labels
from springtide.engine.replicas.phases import PHASE_BITS, Phase, exported, phase
from springtide.model.replicas.knobs import SAFE, Knobs, Mode
from springtide.model.replicas.status import Status

EXPECT: Final = "hpa_expect_replicas"
EXPECT_OBSERVED: Final = "hpa_expect_replicas_observed"
STATEFUL_INDEX: Final = "hpa_stateful_index"
LEADER_BIT: Final = 0x1
ORDINAL_BIT: Final = 0x2
READY_BIT: Final = 0x10
TARGET_BIT: Final = 0x20
PHASE_NUMBERS: Final = {
    Phase.PENDING: 1,
    Phase.MIGRATING: 2,
    Phase.WAITING: 3,
    Phase.DONE: 4,
}
"""How `hpa_round_phase` shows the phase; zero is no status."""


class ExportRules(msgspec.Struct, frozen=True, kw_only=True):
    """How often metrics are taken and fetched, and how old a follower's status may be."""

    is_enabled: bool = True
    export_interval_ms: int = 10_000
    scrape_interval_ms: int = 15_000
    status_age_ms_max: int = 60_000
    knobs: Knobs = SAFE

    @property
    def linger_ms(self) -> int:
        """Return how long a last value has to be shown until everybody has seen it."""
        return self.export_interval_ms + self.scrape_interval_ms


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """What a member knows of itself and of the status at one moment.

    `unready_ms` is for how long it has not served, None while it does. `stateful_count` is how
    many members may hold state, for workloads whose members have no order.
    """

    now_ms: int
    labels: Labels
    status: Status | None = None
    status_age_ms: int = 0
    holds_lock: bool = False
    has_led: bool = False
    has_ordinal: bool = False
    unready_ms: int | None = None
    stateful_count: int | None = None


class Shown(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the member shows; None is no series at all."""

    expect: int | None
    stateful_index: int | None
    mask: int
    generation: int
    phase: int
    status_age_ms: int


def expect_name(knobs: Knobs) -> str:
    """Return under which name replicas are shown; nobody scales by what is only observed."""
    return EXPECT_OBSERVED if knobs.mode is Mode.OBSERVE else EXPECT


def shown(rules: ExportRules, seat: Seat) -> Shown:
    """Return what the member shows now."""
    status = seat.status
    return Shown(
        expect=_expect(rules, seat),
        stateful_index=_stateful_index(rules, seat),
        mask=mask(rules, seat),
        generation=status.generation if status is not None else 0,
        phase=PHASE_NUMBERS[_phase(rules, status, seat)] if status is not None else 0,
        status_age_ms=seat.status_age_ms,
    )


def mask(rules: ExportRules, seat: Seat) -> int:
    """Return who the member is, both labels and the phase, a bit each."""
    bits = (
        (LEADER_BIT, seat.holds_lock),
        (ORDINAL_BIT, seat.has_ordinal),
        (READY_BIT, seat.labels.is_ready),
        (TARGET_BIT, seat.labels.is_target),
    )
    found = sum(bit for bit, is_set in bits if is_set)
    if seat.status is None:
        return found
    return found | PHASE_BITS[_phase(rules, seat.status, seat)]


def has_lingered(rules: ExportRules, seat: Seat) -> bool:
    """Return whether everybody has seen that a stopping member serves no more."""
    is_gone = seat.labels.plan.is_stopping and not seat.labels.is_ready
    return is_gone and seat.unready_ms is not None and seat.unready_ms >= rules.linger_ms


def _expect(rules: ExportRules, seat: Seat) -> int | None:
    if not rules.is_enabled or seat.status is None:
        return None
    if not seat.holds_lock and not _may_follow(rules, seat):
        return None
    return exported(seat.status, seat.now_ms, knobs=rules.knobs)


def _may_follow(rules: ExportRules, seat: Seat) -> bool:
    is_known = seat.status_age_ms <= rules.status_age_ms_max
    return is_known and (rules.knobs.do_followers_export or seat.has_led)


def _stateful_index(rules: ExportRules, seat: Seat) -> int | None:
    if not rules.is_enabled or has_lingered(rules, seat):
        return None
    return seat.labels.stateful_index if seat.stateful_count is None else seat.stateful_count


def _phase(rules: ExportRules, status: Status, seat: Seat) -> Phase:
    return phase(status, seat.now_ms, knobs=rules.knobs)
