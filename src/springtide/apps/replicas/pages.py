"""The moment of a member as the page that it shows."""

from springtide.model.replicas.member import Member
from springtide.replicas import PolicyShown, Snapshot
from springtide.wire.replica_pages import (
    ComplaintPage,
    InputPage,
    MemberPage,
    RoundPage,
    StatusPage,
    moment,
)


def status_page(found: Snapshot) -> StatusPage:
    """Return the page of a moment."""
    return StatusPage(
        name=found.name,
        at=moment(found.at_ms),
        mode=found.mode,
        is_enabled=found.is_enabled,
        index=found.index,
        is_target=found.is_target,
        is_ready=found.is_ready,
        is_leader=found.is_leader,
        is_stopping=found.is_stopping,
        leader=found.leader,
        expected=found.expected,
        stateful_index=found.stateful_index,
        floor=found.floor,
        status_age_seconds=found.status_age_s(found.at_ms),
        store_fault=found.store_fault,
        drain_overdue_seconds=found.overdue_ms / 1000,
        clock_offset_seconds=_seconds(found.clock_offset_ms),
        has_ready_check=found.has_ready_check,
        has_stateful_check=found.has_stateful_check,
        ordered=found.ordered,
        suggested_up=found.suggestion_up,
        suggested_down=found.suggestion_down,
        why=found.why,
        next_evaluation=moment(found.next_evaluation_ms),
        round=_round(found),
        inputs=tuple(_input(each) for each in found.policies),
        members=tuple(member_page(each) for each in found.members),
        complaints=tuple(
            ComplaintPage(at=moment(each.at_ms), message=each.words) for each in found.complaints
        ),
    )


def member_page(member: Member) -> MemberPage:
    """Return what is shown of a member."""
    return MemberPage(
        name=member.name,
        index=member.index,
        is_target=member.is_target,
        is_ready=member.is_ready,
        is_stopping=member.is_stopping,
        is_alive=member.is_alive,
        address=member.address,
        service=member.service,
    )


def _round(found: Snapshot) -> RoundPage | None:
    status = found.status
    if status is None or found.phase is None:
        return None
    return RoundPage(
        generation=status.generation,
        phase=found.phase,
        current=status.current,
        expect=status.expect,
        start=moment(status.start_ms),
        end=moment(status.end_ms),
        scaling=moment(status.scaling_ms),
        reason=status.reason,
        controller=status.controller_name,
        written=moment(status.written_ms),
    )


def _input(shown: PolicyShown) -> InputPage:
    return InputPage(
        policy=shown.name,
        value=shown.value,
        at=moment(shown.pulled_ms),
        up_per_replica=shown.up_per_replica,
        down_per_replica=shown.down_per_replica,
        up_unknown=shown.up_unknown,
        down_unknown=shown.down_unknown,
        why=shown.words,
        is_checked=shown.is_checked,
    )


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000
