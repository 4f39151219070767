"""When a member may take its labels and when it must give them up, from what it plans by.

Three things send a member away: a status that has no place for it, a stop, and a planned shutdown.
Each has its own two times, and the earliest holds. A status that is lost sends nobody away.
"""

import msgspec

from springtide.engine.replicas.instants import has_come
from springtide.engine.replicas.label_messages import Check, Looked
from springtide.model.replicas.rules import Schedule
from springtide.model.replicas.status import Status


class LabelRules(msgspec.Struct, frozen=True, kw_only=True):
    """How labels follow the status; where they are not led by it, every member has its place.

    Where all are to drain nobody has a place, whatever the status says.
    """

    schedule: Schedule = Schedule()
    is_enabled: bool = True
    is_led: bool = True
    do_all_drain: bool = False
    is_ready_early: bool = False
    is_strict_time: bool = False
    slack: int = 0
    init_wait_ms: int = 60_000
    first_target_ms: int = 1_000


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a member knows of its place and its future."""

    booted_ms: int
    index: int | None = None
    status: Status | None = None
    is_status_known: bool = False
    stop_target_ms: int | None = None
    stop_ready_ms: int | None = None
    shutdown_ms: int | None = None

    @property
    def is_stopping(self) -> bool:
        """Return whether the member was told to stop."""
        return self.stop_target_ms is not None


class Gates(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Which way is open now; `ready_left_ms` is when serving should have ended."""

    may_be_target: bool
    may_be_ready: bool
    has_target_left: bool
    has_ready_left: bool
    ready_left_ms: int | None


def gates(rules: LabelRules, plan: Plan, look: Looked) -> Gates:
    """Return which way is open at this look."""

    def is_past(at_ms: int | None) -> bool:
        if at_ms is None:
            return False
        return has_come(at_ms, now_ms=look.now_ms, is_strict=rules.is_strict_time)

    is_held = plan.status is not None and not plan.is_status_known
    stays = _has_place(rules, plan) and not plan.is_stopping and plan.shutdown_ms is None
    target_left_ms = _earliest(_leaving_target(rules, plan, is_held=is_held))
    ready_left_ms = _earliest(_leaving_ready(rules, plan, is_held=is_held))
    is_let_in = look.ready in {Check.YES, Check.ABSENT}
    return Gates(
        may_be_target=stays and not is_held and is_past(_start_ms(rules, plan)),
        may_be_ready=stays and not is_held and is_let_in and is_past(_ready_ms(rules, plan, look)),
        has_target_left=is_past(target_left_ms),
        has_ready_left=is_past(ready_left_ms),
        ready_left_ms=ready_left_ms,
    )


def _has_place(rules: LabelRules, plan: Plan) -> bool:
    if not rules.is_enabled:
        return True
    if rules.do_all_drain:
        return False
    if not rules.is_led:
        return True
    if plan.index is None:
        return False
    return plan.status is None or plan.index <= plan.status.expect + rules.slack


def _start_ms(rules: LabelRules, plan: Plan) -> int:
    if plan.status is None or not rules.is_enabled:
        return plan.booted_ms + rules.first_target_ms
    return plan.status.start_ms


def _ready_ms(rules: LabelRules, plan: Plan, look: Looked) -> int:
    if not rules.is_enabled:
        return plan.booted_ms + rules.first_target_ms
    waited_ms = plan.booted_ms + rules.init_wait_ms
    if plan.status is None:
        return waited_ms
    if look.ready is Check.ABSENT:
        return max(plan.status.end_ms, waited_ms)
    return plan.booted_ms if rules.is_ready_early else plan.status.end_ms


def _leaving_target(rules: LabelRules, plan: Plan, *, is_held: bool) -> list[int | None]:
    by_status = None
    if not _has_place(rules, plan) and not is_held:
        by_status = _start_ms(rules, plan)
    return [by_status, plan.stop_target_ms, plan.shutdown_ms]


def _leaving_ready(rules: LabelRules, plan: Plan, *, is_held: bool) -> list[int | None]:
    by_status = None
    if not _has_place(rules, plan) and not is_held:
        by_status = plan.status.end_ms if plan.status is not None else _start_ms(rules, plan)
    by_shutdown = None
    if plan.shutdown_ms is not None:
        by_shutdown = plan.shutdown_ms + rules.schedule.period_ms
    return [by_status, plan.stop_ready_ms, by_shutdown]


def _earliest(times: list[int | None]) -> int | None:
    return min((each for each in times if each is not None), default=None)
