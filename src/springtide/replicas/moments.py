"""One moment of a member, and what each metric says of it.

A row has the values of the metric's own labels. What nobody knows has no row: absence is no zero. Nothing here
depends on how many members there are.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import msgspec

from springtide.engine.replicas.export import PHASE_NUMBERS
from springtide.model.replicas.knobs import Mode
from springtide.replicas.snapshot import PolicyShown, Snapshot

Row: TypeAlias = tuple[tuple[str, ...], float]
Rows: TypeAlias = "Callable[[Moment], Iterator[Row]]"

_LABELS: Final = ("hpa_scaling_target", "hpa_scaling_ready")


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot and the time at which it is collected; an answer lasts for so long."""

    snapshot: Snapshot
    now_s: float
    answer_ms_max: int
    skipped: dict[tuple[str, str], int] = {}

    def age_s(self, policy: PolicyShown) -> float | None:
        """Return how old a policy's answer is; None where there is none, or none that counts.

        Only who leads asks: what a member was told when it led last says nothing any more.
        """
        if policy.pulled_ms is None:
            return None
        age_s = max(0.0, self.now_s - policy.pulled_ms / 1000)
        is_asking = self.snapshot.is_leader or age_s * 1000 <= self.answer_ms_max
        return age_s if is_asking else None


def one(said: Callable[[Moment], float | None]) -> Rows:
    """Return how to make the one row of a metric without labels, or none."""

    def rows(moment: Moment) -> Iterator[Row]:
        value = said(moment)
        if value is not None:
            yield (), value

    return rows


def expected(moment: Moment, *, mode: Mode) -> int | None:
    """Return the replicas to scale to, if they are of this mode."""
    return moment.snapshot.expected if moment.snapshot.mode is mode else None


def generation(moment: Moment) -> int | None:
    """Return the generation of the status."""
    status = moment.snapshot.status
    return None if status is None else status.generation


def phase(moment: Moment) -> int:
    """Return the phase of the round as a number."""
    at = moment.snapshot.phase
    return 0 if at is None else PHASE_NUMBERS[at]


def clock_offset_s(moment: Moment) -> float | None:
    """Return how far the clock of Prometheus is ahead."""
    offset_ms = moment.snapshot.clock_offset_ms
    return None if offset_ms is None else offset_ms / 1000


def valid(moment: Moment) -> Iterator[Row]:
    """Yield for each policy and direction whether it counts."""
    for each in moment.snapshot.policies:
        if moment.age_s(each) is not None:
            yield (each.name, "up"), float(not each.up_unknown)
            yield (each.name, "down"), float(not each.down_unknown)


def values(moment: Moment) -> Iterator[Row]:
    """Yield what each policy came to."""
    for each in moment.snapshot.policies:
        if each.value is not None and moment.age_s(each) is not None:
            yield (each.name,), each.value


def ages(moment: Moment) -> Iterator[Row]:
    """Yield how old each policy's answer is."""
    for each in moment.snapshot.policies:
        age_s = moment.age_s(each)
        if age_s is not None:
            yield (each.name,), age_s


def checked(moment: Moment) -> Iterator[Row]:
    """Yield of each policy whether it can be told how whole and how old it is."""
    for each in moment.snapshot.policies:
        yield (each.name,), float(each.is_checked)


def unknown(moment: Moment) -> Iterator[Row]:
    """Yield how often each policy did not count, by reason."""
    for each in moment.snapshot.policies:
        for reason, count in each.unknown_counts.items():
            yield (each.name, reason), count


def suggestions(moment: Moment) -> Iterator[Row]:
    """Yield what the load asks for, on who decides."""
    found = moment.snapshot
    if not found.is_leader:
        return
    for direction, replicas in (("up", found.suggestion_up), ("down", found.suggestion_down)):
        if replicas is not None:
            yield (direction,), replicas


def transitions(moment: Moment) -> Iterator[Row]:
    """Yield how often each label got each value."""
    none = {(label, to): 0 for label in _LABELS for to in ("0", "1")}
    yield from {**none, **moment.snapshot.tally.label_transitions}.items()


def backend_errors(moment: Moment) -> Iterator[Row]:
    """Yield how often the store failed, by operation."""
    for operation, count in moment.snapshot.tally.backend_errors.items():
        yield (operation,), count


def exits(moment: Moment) -> Iterator[Row]:
    """Yield how this member ended."""
    for kind, count in moment.snapshot.tally.exits.items():
        yield (kind,), count


def skipped(moment: Moment) -> Iterator[Row]:
    """Yield the samples of observers that were skipped."""
    yield from moment.skipped.items()
