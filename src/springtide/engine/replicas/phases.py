"""Where a round stands, and what others are shown of it meanwhile.

A round is a change with three times. Before the first nothing moves; between the first two state
moves; until the third the old number is what others see, so that nobody is taken away too early.
"""

from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas.instants import has_come
from springtide.model.replicas.knobs import SAFE, Knobs, Publication
from springtide.model.replicas.rules import Schedule
from springtide.model.replicas.status import Status


class Phase(StrEnum):
    """What a round waits for: its start, its end, the scaling, or nothing."""

    PENDING = "Pending"
    MIGRATING = "Migrating"
    WAITING = "Waiting"
    DONE = "Done"


PHASE_BITS: Final = {
    Phase.PENDING: 0x100,
    Phase.MIGRATING: 0x200,
    Phase.WAITING: 0x400,
    Phase.DONE: 0x800,
}
"""How the status mask of members shows the phase."""


def phase(status: Status, now_ms: int, *, knobs: Knobs = SAFE) -> Phase:
    """Return where a round stands."""

    def is_past(at_ms: int) -> bool:
        return has_come(at_ms, now_ms=now_ms, is_strict=knobs.is_strict_time)

    if is_past(status.scaling_ms):
        return Phase.WAITING if _is_draining(status, knobs) else Phase.DONE
    if is_past(status.end_ms):
        return Phase.WAITING
    return Phase.MIGRATING if is_past(status.start_ms) else Phase.PENDING


def is_due(status: Status, now_ms: int, *, knobs: Knobs = SAFE) -> bool:
    """Return whether all times have come, and only the members that leave are waited for."""
    is_past = has_come(status.scaling_ms, now_ms=now_ms, is_strict=knobs.is_strict_time)
    return is_past and _is_draining(status, knobs)


def _is_draining(status: Status, knobs: Knobs) -> bool:
    return knobs.waits_for_drain and status.expect < status.current


def running(status: Status, now_ms: int, *, knobs: Knobs = SAFE) -> int:
    """Return the replicas that a decision starts from."""
    is_done = phase(status, now_ms, knobs=knobs) is Phase.DONE
    return status.expect if is_done else status.current


def exported(status: Status, now_ms: int, *, knobs: Knobs = SAFE) -> int:
    """Return the replicas that others are to scale to; fewer are never shown early."""
    is_done = phase(status, now_ms, knobs=knobs) is Phase.DONE
    if knobs.publication is Publication.EARLY and not is_done:
        return max(status.current, status.expect)
    return running(status, now_ms, knobs=knobs)


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A number of replicas to expect, the number that runs, and why."""

    current: int
    expect: int
    why: str


def committed(
    before: Status | None, decision: Decision, schedule: Schedule, *, now_ms: int
) -> Status:
    """Return the status that begins a round now; its generation is the next one."""
    start_ms = now_ms + schedule.start_delay_ms
    end_ms = start_ms + schedule.period_ms
    return Status(
        current=decision.current,
        expect=decision.expect,
        start_ms=start_ms,
        end_ms=end_ms,
        scaling_ms=end_ms + schedule.scaling_delay_ms,
        generation=1 + (before.generation if before is not None else 0),
        reason=decision.why,
        written_ms=now_ms,
    )


def settled(status: Status, *, now_ms: int) -> Status:
    """Return the status of a round that is over, in which what was expected runs."""
    return replace(status, current=status.expect, written_ms=now_ms)


def called_off(status: Status, *, now_ms: int) -> Status:
    """Return the round that keeps what runs; nobody has to move for it, so it is over at once."""
    why = f"It stayed unknown whether fewer are safe, so the {status.current} that run are kept."
    decision = Decision(current=status.current, expect=status.current, why=why)
    return committed(status, decision, Schedule(), now_ms=now_ms)


def rescheduled(status: Status, wanted: Schedule, *, now_ms: int) -> Status:
    """Return the status with times no earlier than these; a round is never hastened."""
    start_ms = max(status.start_ms, now_ms + wanted.start_delay_ms)
    end_ms = max(status.end_ms, start_ms + wanted.period_ms)
    scaling_ms = max(status.scaling_ms, end_ms + wanted.scaling_delay_ms)
    return replace(
        status, start_ms=start_ms, end_ms=end_ms, scaling_ms=scaling_ms, written_ms=now_ms
    )
