"""Every metric that a member exports: one table for all who export.

Names are final. Whoever exports adds the labels that tell members apart.
"""

from typing import Final

import msgspec

from springtide.engine.replicas.export import EXPECT, EXPECT_OBSERVED, STATEFUL_INDEX
from springtide.engine.replicas.queries import HEARTBEAT
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.policy import MetricKind
from springtide.replicas import moments
from springtide.replicas.moments import Rows


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One metric: its final name, what it means, and its rows."""

    name: str
    text: str
    rows: Rows
    labels: tuple[str, ...] = ()
    kind: MetricKind = MetricKind.GAUGE
    has_suffix: bool = False


FIGURES: Final = (
    Figure(
        name=EXPECT,
        text="Replicas that the workload should have.",
        rows=moments.one(lambda moment: moments.expected(moment, mode=Mode.ACTIVE)),
        has_suffix=True,
    ),
    Figure(
        name=EXPECT_OBSERVED,
        text="Replicas that the workload would be given, in mode observe.",
        rows=moments.one(lambda moment: moments.expected(moment, mode=Mode.OBSERVE)),
        has_suffix=True,
    ),
    Figure(
        name=STATEFUL_INDEX,
        text="The number of this member while it may serve or holds state, else 0.",
        rows=moments.one(lambda moment: moment.snapshot.stateful_index),
        has_suffix=True,
    ),
    Figure(
        name=HEARTBEAT,
        text="When this was collected, in seconds since 1970.",
        rows=moments.one(lambda moment: moment.now_s),
    ),
    Figure(
        name="hpa_rule_controller_status",
        text="What this member is, a bit each: leads 1, numbered by its pod 2, Ready 16, Target 32, and the phase.",
        rows=moments.one(lambda moment: moment.snapshot.mask),
    ),
    Figure(
        name="hpa_scaling_target",
        text="Whether new state belongs to this member.",
        rows=moments.one(lambda moment: moment.snapshot.is_target),
    ),
    Figure(
        name="hpa_scaling_ready",
        text="Whether this member may serve.",
        rows=moments.one(lambda moment: moment.snapshot.is_ready),
    ),
    Figure(
        name="hpa_leader",
        text="Whether this member decides.",
        rows=moments.one(lambda moment: moment.snapshot.is_leader),
    ),
    Figure(
        name="hpa_status_generation",
        text="The generation of the status that this member follows.",
        rows=moments.one(moments.generation),
    ),
    Figure(
        name="hpa_status_age_seconds",
        text="How long ago the store last confirmed the status.",
        rows=moments.one(lambda moment: moment.snapshot.status_age_s(int(moment.now_s * 1000))),
    ),
    Figure(
        name="hpa_round_phase",
        text="The phase of the round: 0 no status, 1 pending, 2 migrating, 3 waiting, 4 done.",
        rows=moments.one(moments.phase),
    ),
    Figure(
        name="hpa_drain_overdue_seconds",
        text="For how long this member has held on to state after it should have given it up.",
        rows=moments.one(lambda moment: moment.snapshot.overdue_ms / 1000),
    ),
    Figure(
        name="hpa_stateful_check_registered",
        text="Whether the application says if it holds state; without that nothing is protected.",
        rows=moments.one(lambda moment: moment.snapshot.has_stateful_check),
    ),
    Figure(
        name="hpa_clock_offset_seconds",
        text="How far the clock of Prometheus is ahead of this member's.",
        rows=moments.one(moments.clock_offset_s),
    ),
    Figure(
        name="hpa_suggestion",
        text="Replicas that the load asks for.",
        rows=moments.suggestions,
        labels=("direction",),
    ),
    Figure(
        name="hpa_policy_valid",
        text="Whether the policy's value counts in this direction.",
        rows=moments.valid,
        labels=("policy", "direction"),
    ),
    Figure(
        name="hpa_policy_value",
        text="The policy's total at the last pull.",
        rows=moments.values,
        labels=("policy",),
    ),
    Figure(
        name="hpa_policy_age_seconds",
        text="How long ago the policy was last answered.",
        rows=moments.ages,
        labels=("policy",),
    ),
    Figure(
        name="hpa_policy_checked",
        text="Whether coverage and age of the policy can be told; a query of one's own must say how.",
        rows=moments.checked,
        labels=("policy",),
    ),
    Figure(
        name="hpa_policy_unknown_total",
        text="Pulls whose value did not count, and why.",
        rows=moments.unknown,
        labels=("policy", "reason"),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_label_transitions_total",
        text="How often a label of this member got a value.",
        rows=moments.transitions,
        labels=("label", "to"),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_backend_errors_total",
        text="What the store did not do.",
        rows=moments.backend_errors,
        labels=("op",),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_exit_total",
        text="How this member ended: drained, or forced while it still served.",
        rows=moments.exits,
        labels=("kind",),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_wrong_victim_total",
        text="Members that were ended though another should have been.",
        rows=moments.one(lambda moment: moment.snapshot.tally.wrong_victims),
        kind=MetricKind.COUNTER,
    ),
    Figure(
        name="hpa_observer_skipped_total",
        text="Samples of observers that were skipped: failed, slow, or refused as too many or given twice.",
        rows=moments.skipped,
        labels=("policy", "reason"),
        kind=MetricKind.COUNTER,
    ),
)
