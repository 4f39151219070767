"""The two labels of one member: `Target`, it should own new state, and `Ready`, it may still serve.

Target comes first and goes first. Ready stays for as long as the application says that it holds
state, and where nobody can say it. Where the status is unknown nothing changes, but a member that
is told to stop does. Labels move nothing: they tell the application, and it moves its state.
"""

from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas.gates import Gates, LabelRules, Plan, gates
from springtide.engine.replicas.label_messages import (
    Check,
    Command,
    Drained,
    Event,
    IndexKnown,
    Looked,
    Protect,
    PublishLabels,
    ReadyChanged,
    ShutdownPlanned,
    StatusKnown,
    StatusLost,
    StopAsked,
    TargetChanged,
    WarnUnprotected,
)


class Labels(msgspec.Struct, frozen=True, kw_only=True):
    """Both labels, what the member plans by, and whether it has warned."""

    plan: Plan
    is_target: bool = False
    is_ready: bool = False
    has_warned: bool = False
    overdue_since_ms: int | None = None
    protected: int | None = None

    @property
    def stateful_index(self) -> int:
        """Return what the member exports as its floor: its number while it may serve, or zero.

        A member that lost its place among the members keeps the number that it is written down by.
        """
        return (self.plan.index or self.protected or 0) if self.is_ready else 0

    def overdue_ms(self, now_ms: int) -> int:
        """Return for how long the member holds state past its time."""
        return 0 if self.overdue_since_ms is None else max(0, now_ms - self.overdue_since_ms)


Stepped: TypeAlias = tuple[Labels, tuple[Command, ...]]


def step(rules: LabelRules, state: Labels, event: Event) -> Stepped:
    """Fold one event into the labels; at most one of them changes, and only at a look."""
    match event:
        case Looked():
            return _looked(rules, state, event)
        case StatusKnown(status=status):
            return _planned(state, replace(state.plan, status=status, is_status_known=True)), ()
        case StatusLost():
            return _planned(state, replace(state.plan, is_status_known=False)), ()
        case IndexKnown(index=index):
            return _numbered(state, index)
        case ShutdownPlanned(at_ms=at_ms):
            return _planned(state, replace(state.plan, shutdown_ms=at_ms)), ()
        case StopAsked():
            return _planned(state, _stopping(rules, state.plan, event)), ()
        case _:
            assert_never(event)


def _planned(state: Labels, plan: Plan) -> Labels:
    return replace(state, plan=plan)


def _numbered(state: Labels, index: int | None) -> Stepped:
    """Take a new number; whoever may serve is written down by it before the old one goes."""
    old = state.protected
    state = _planned(state, replace(state.plan, index=index))
    if not state.is_ready or index is None or index == old:
        return state, ()
    gone = (Drained(old),) if old is not None else ()
    return replace(state, protected=index), (Protect(index), *gone)


def _stopping(rules: LabelRules, plan: Plan, event: StopAsked) -> Plan:
    """Return the plan with the times of a stop; of several stops the earlier times hold."""
    is_slow = event.is_ahead and rules.is_enabled
    target_offset_ms = event.target_offset_ms
    if target_offset_ms is None:
        target_offset_ms = rules.schedule.start_delay_ms if is_slow else 0
    ready_offset_ms = event.ready_offset_ms
    if ready_offset_ms is None:
        ready_offset_ms = rules.schedule.period_ms if is_slow else 0
    target_ms = event.now_ms + target_offset_ms
    ready_ms = target_ms + ready_offset_ms
    if plan.stop_target_ms is not None and plan.stop_ready_ms is not None:
        target_ms = min(target_ms, plan.stop_target_ms)
        ready_ms = min(ready_ms, plan.stop_ready_ms)
    return replace(plan, stop_target_ms=target_ms, stop_ready_ms=ready_ms)


def _looked(rules: LabelRules, state: Labels, look: Looked) -> Stepped:
    found = gates(rules, state.plan, look)
    if state.is_target and found.has_target_left:
        return _target(state, is_target=False)
    if not state.is_target and found.may_be_target:
        return _target(state, is_target=True)
    if state.is_ready and not state.is_target and found.has_ready_left:
        return _leave_ready(state, look, found)
    state = replace(state, overdue_since_ms=None) if not found.has_ready_left else state
    if not state.is_ready and state.is_target and found.may_be_ready:
        return _enter_ready(state)
    return state, ()


def _target(state: Labels, *, is_target: bool) -> Stepped:
    state = replace(state, is_target=is_target)
    return state, (_labels(state), TargetChanged(is_target))


def _enter_ready(state: Labels) -> Stepped:
    index = state.plan.index
    state = replace(state, is_ready=True, overdue_since_ms=None, protected=index)
    protection = (Protect(index),) if index is not None else ()
    # The record comes first: a member that dies in between must not have served without one.
    return state, (*protection, _labels(state), ReadyChanged(is_ready=True))


def _leave_ready(state: Labels, look: Looked, found: Gates) -> Stepped:
    if look.stateful in {Check.YES, Check.UNKNOWN}:
        since_ms = found.ready_left_ms
        return replace(state, overdue_since_ms=since_ms), ()
    protected = state.protected
    warning = () if look.stateful is Check.NO or state.has_warned else (WarnUnprotected(),)
    state = replace(
        state,
        is_ready=False,
        has_warned=state.has_warned or bool(warning),
        overdue_since_ms=None,
        protected=None,
    )
    drained = (Drained(protected),) if protected is not None else ()
    return state, (*warning, _labels(state), ReadyChanged(is_ready=False), *drained)


def _labels(state: Labels) -> PublishLabels:
    return PublishLabels(is_target=state.is_target, is_ready=state.is_ready)
