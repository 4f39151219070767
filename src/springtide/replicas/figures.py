"""Every metric that a member exports, with what it says of one moment: one table for all who export.

A row has the values of the metric's own labels; whoever exports adds those that tell members apart. What nobody
knows has no row: absence is no zero. Nothing here depends on how many members there are.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import msgspec

from springtide.engine.replicas.export import (
    EXPECT,
    EXPECT_OBSERVED,
    PHASE_NUMBERS,
    STATEFUL_INDEX,
)
from springtide.engine.replicas.queries import HEARTBEAT
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.policy import MetricKind
from springtide.replicas.snapshot import PolicyShown, Snapshot

Row: TypeAlias = tuple[tuple[str, ...], float]

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


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One metric: its final name, what it means, and its rows."""

    name: str
    text: str
    rows: Callable[[Moment], Iterator[Row]]
    labels: tuple[str, ...] = ()
    kind: MetricKind = MetricKind.GAUGE
    has_suffix: bool = False


def _one(said: Callable[[Moment], float | None]) -> Callable[[Moment], Iterator[Row]]:
    def rows(moment: Moment) -> Iterator[Row]:
        value = said(moment)
        if value is not None:
            yield (), value

    return rows


def _expected(moment: Moment, *, mode: Mode) -> int | None:
    return moment.snapshot.expected if moment.snapshot.mode is mode else None


def _generation(moment: Moment) -> int | None:
    status = moment.snapshot.status
    return None if status is None else status.generation


def _phase(moment: Moment) -> int:
    at = moment.snapshot.phase
    return 0 if at is None else PHASE_NUMBERS[at]


def _clock_offset_s(moment: Moment) -> float | None:
    offset_ms = moment.snapshot.clock_offset_ms
    return None if offset_ms is None else offset_ms / 1000


def _valid(moment: Moment) -> Iterator[Row]:
    for each in moment.snapshot.policies:
        if moment.age_s(each) is not None:
            yield (each.name, "up"), float(not each.up_unknown)
            yield (each.name, "down"), float(not each.down_unknown)


def _values(moment: Moment) -> Iterator[Row]:
    for each in moment.snapshot.policies:
        if each.value is not None and moment.age_s(each) is not None:
            yield (each.name,), each.value


def _ages(moment: Moment) -> Iterator[Row]:
    for each in moment.snapshot.policies:
        age_s = moment.age_s(each)
        if age_s is not None:
            yield (each.name,), age_s


def _checked(moment: Moment) -> Iterator[Row]:
    for each in moment.snapshot.policies:
        yield (each.name,), float(each.is_checked)


def _unknown(moment: Moment) -> Iterator[Row]:
    for each in moment.snapshot.policies:
        for reason, count in each.unknown_counts.items():
            yield (each.name, reason), count


def _suggestions(moment: Moment) -> Iterator[Row]:
    found = moment.snapshot
    if not found.is_leader:
        return
    for direction, replicas in (("up", found.suggestion_up), ("down", found.suggestion_down)):
        if replicas is not None:
            yield (direction,), replicas


def _transitions(moment: Moment) -> Iterator[Row]:
    none = {(label, to): 0 for label in _LABELS for to in ("0", "1")}
    yield from {**none, **moment.snapshot.tally.label_transitions}.items()


def _backend_errors(moment: Moment) -> Iterator[Row]:
    for operation, count in moment.snapshot.tally.backend_errors.items():
        yield (operation,), count


def _exits(moment: Moment) -> Iterator[Row]:
    for kind, count in moment.snapshot.tally.exits.items():
        yield (kind,), count


def _skipped(moment: Moment) -> Iterator[Row]:
    yield from moment.skipped.items()


FIGURES: Final = (
    Figure(
        name=EXPECT,
        text="Replicas that the workload should have.",
        rows=_one(lambda moment: _expected(moment, mode=Mode.ACTIVE)),
        has_suffix=True,
    ),
    Figure(
        name=EXPECT_OBSERVED,
        text="Replicas that the workload would be given, in mode observe.",
        rows=_one(lambda moment: _expected(moment, mode=Mode.OBSERVE)),
        has_suffix=True,
    ),
    Figure(
        name=STATEFUL_INDEX,
        text="The number of this member while it may serve or holds state, else 0.",
        rows=_one(lambda moment: moment.snapshot.stateful_index),
        has_suffix=True,
    ),
    Figure(
        name=HEARTBEAT,
        text="When this was collected, in seconds since 1970.",
        rows=_one(lambda moment: moment.now_s),
    ),
    Figure(
        name="hpa_rule_controller_status",
        text="What this member is, a bit each: leads 1, numbered by its pod 2, Ready 16, Target 32, and the phase.",
        rows=_one(lambda moment: moment.snapshot.mask),
    ),
    Figure(
        name="hpa_scaling_target",
        text="Whether new state belongs to this member.",
        rows=_one(lambda moment: moment.snapshot.is_target),
    ),
    Figure(
        name="hpa_scaling_ready",
        text="Whether this member may serve.",
        rows=_one(lambda moment: moment.snapshot.is_ready),
    ),
    Figure(
        name="hpa_leader",
        text="Whether this member decides.",
        rows=_one(lambda moment: moment.snapshot.is_leader),
    ),
    Figure(
        name="hpa_status_generation",
        text="The generation of the status that this member follows.",
        rows=_one(_generation),
    ),
    Figure(
        name="hpa_status_age_seconds",
        text="How long ago the store last confirmed the status.",
        rows=_one(lambda moment: moment.snapshot.status_age_s(int(moment.now_s * 1000))),
    ),
    Figure(
        name="hpa_round_phase",
        text="The phase of the round: 0 no status, 1 pending, 2 migrating, 3 waiting, 4 done.",
        rows=_one(_phase),
    ),
    Figure(
        name="hpa_drain_overdue_seconds",
        text="For how long this member has held on to state after it should have given it up.",
        rows=_one(lambda moment: moment.snapshot.overdue_ms / 1000),
    ),
    Figure(
        name="hpa_stateful_check_registered",
        text="Whether the application says if it holds state; without that nothing is protected.",
        rows=_one(lambda moment: moment.snapshot.has_stateful_check),
    ),
    Figure(
        name="hpa_clock_offset_seconds",
        text="How far the clock of Prometheus is ahead of this member's.",
        rows=_one(_clock_offset_s),
    ),
    Figure(
        name="hpa_suggestion",
        text="Replicas that the load asks for.",
        rows=_suggestions,
        labels=("direction",),
    ),
    Figure(
        name="hpa_policy_valid",
        text="Whether the policy's value counts in this direction.",
        rows=_valid,
        labels=("policy", "direction"),
    ),
    Figure(
        name="hpa_policy_value",
        text="The policy's total at the last pull.",
        rows=_values,
        labels=("policy",),
    ),
    Figure(
        name="hpa_policy_age_seconds",
        text="How long ago the policy was last answered.",
        rows=_ages,
        labels=("policy",),
    ),
    Figure(
        name="hpa_policy_checked",
        text="Whether coverage and age of the policy can be told; a query of one's own must say how.",
        rows=_checked,
        labels=("policy",),
    ),
    Figure(
        name="hpa_policy_unknown_total",
        text="Pulls whose value did not count, and why.",
        rows=_unknown,
        labels=("policy", "reason"),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_label_transitions_total",
        text="How often a label of this member got a value.",
        rows=_transitions,
        labels=("label", "to"),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_backend_errors_total",
        text="What the store did not do.",
        rows=_backend_errors,
        labels=("op",),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_exit_total",
        text="How this member ended: drained, or forced while it still served.",
        rows=_exits,
        labels=("kind",),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_wrong_victim_total",
        text="Members that were ended though another should have been.",
        rows=_one(lambda moment: moment.snapshot.tally.wrong_victims),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_observer_skipped_total",
        text="Samples of observers that were skipped: failed, slow, or refused as too many or given twice.",
        rows=_skipped,
        labels=("policy", "reason"),
        kind=MetricKind.COUNTER,
    ),
)
