"""Rounds as a machine: decisions become one status at a time, written if nobody else wrote.

Of two writers one loses, reads again and begins its windows anew; it does not push its old
decision. While a round runs only growing may take its place. A round that shrinks and has not
started is called off when its inputs stay unknown. A status that is gone is written again from
what was known.
"""

from typing import Final, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas.phases import (
    Decision,
    Phase,
    called_off,
    committed,
    is_due,
    phase,
    rescheduled,
    running,
    settled,
)
from springtide.engine.replicas.round_messages import (
    Begun,
    Command,
    Complain,
    Decided,
    Event,
    NotWritten,
    PrimeWindows,
    PutStatus,
    ReadStatus,
    Rescheduled,
    StatusSeen,
    StatusUnreadable,
    Written,
)
from springtide.engine.replicas.status_checks import complaint
from springtide.model.replicas.knobs import SAFE, Knobs
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.status import Status

_SECOND_MS: Final = 1000
ABSENT: Final = 0
"""The revision of what is not there."""


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """How rounds go, as an operator sets it; zero never calls a round off.

    Windows shorter than `silence_ms` do not begin anew where evaluations are that far apart.
    """

    schedule: Schedule = Schedule()
    limits: Limits = Limits()
    knobs: Knobs = SAFE
    cancel_after_ms: int = 0
    silence_ms: int = 0


class Rounds(msgspec.Struct, frozen=True, kw_only=True):
    """The last good status, its revision in the store, and what is being written."""

    status: Status | None = None
    revision: int = ABSENT
    writing: Status | None = None
    is_reading: bool = False
    is_unreadable: bool = False
    unknown_since_ms: int | None = None
    refused_generation: int = -1


Stepped: TypeAlias = tuple[Rounds, tuple[Command, ...]]


def step(course: Course, state: Rounds, event: Event) -> Stepped:
    """Fold one event into the rounds; say what is to be written."""
    match event:
        case StatusSeen() | StatusUnreadable():
            return _told(course, state, event)
        case Decided():
            return _decided(course, state, event)
        case Rescheduled(wanted=wanted, now_ms=now_ms):
            return _rescheduled(state, wanted, now_ms)
        case Written(revision=revision):
            status = state.writing or state.status
            return _written(state, status, revision), ()
        case NotWritten() | Begun():
            return replace(state, writing=None, is_reading=True), (ReadStatus(),)
        case _:
            assert_never(event)


def _told(course: Course, state: Rounds, event: StatusSeen | StatusUnreadable) -> Stepped:
    if isinstance(event, StatusUnreadable):
        return _unreadable(state, event)
    return _seen(course, state, event)


def _rescheduled(state: Rounds, wanted: Schedule, now_ms: int) -> Stepped:
    if state.status is None or _is_busy(state):
        return state, ()
    return _put(state, rescheduled(state.status, wanted, now_ms=now_ms))


def _written(state: Rounds, status: Status | None, revision: int) -> Rounds:
    return replace(state, status=status, revision=revision, writing=None, is_unreadable=False)


def _seen(course: Course, state: Rounds, event: StatusSeen) -> Stepped:
    seen, known = event.status, state.status
    if seen is None:
        primed = (PrimeWindows(known.expect),) if state.is_reading and known is not None else ()
        gone = replace(state, revision=ABSENT, is_reading=False, is_unreadable=False)
        return gone, primed
    if event.revision < state.revision:
        return state, ()
    wrong = complaint(seen, limits=course.limits, now_ms=event.now_ms)
    is_gone = state.revision == ABSENT
    if not wrong and known is not None and not is_gone and seen.generation < known.generation:
        wrong = f"Its generation is {seen.generation}, after {known.generation}."
    if wrong:
        words = f"The stored status is not followed: {wrong} The last good one still holds."
        refused = max(state.refused_generation, seen.generation)
        state = replace(state, revision=event.revision, is_reading=False)
        return replace(state, refused_generation=refused), (Complain(words),)
    was_reading = state.is_reading
    state = replace(
        state, status=seen, revision=event.revision, is_reading=False, is_unreadable=False
    )
    return state, (PrimeWindows(seen.expect),) if was_reading else ()


def _unreadable(state: Rounds, event: StatusUnreadable) -> Stepped:
    if event.revision < state.revision:
        return state, ()
    words = f"The stored status cannot be read: {event.why} The last good one still holds."
    primed: tuple[Command, ...] = ()
    if state.is_reading and state.status is not None:
        primed = (PrimeWindows(state.status.expect),)
    state = replace(state, revision=event.revision, is_reading=False, is_unreadable=True)
    return state, (Complain(words), *primed)


def _decided(course: Course, state: Rounds, event: Decided) -> Stepped:
    state = replace(state, unknown_since_ms=_unknown_since(state, event))
    if _is_busy(state):
        return state, ()
    status = state.status
    if status is None:
        return _seeded(state, event)
    if state.revision == ABSENT or state.is_unreadable:
        generation = status.generation + 1
        if state.revision == ABSENT:
            generation = _generation_after(status, event.now_ms)
        again = replace(status, generation=generation, written_ms=event.now_ms)
        return _put(state, again)
    found = _next(course, state, status, event)
    return _put(state, found) if found is not None else (state, ())


def _seeded(state: Rounds, event: Decided) -> Stepped:
    """Write the first status: as many as there are, whatever the load says."""
    observed = max(1, event.observed)
    why = f"There was no status, and {observed} members are there."
    decision = Decision(current=observed, expect=observed, why=why)
    first = committed(None, decision, Schedule(), now_ms=event.now_ms)
    first = replace(first, generation=_generation_after(None, event.now_ms))
    state, commands = _put(state, first)
    return state, (*commands, PrimeWindows(observed))


def _generation_after(status: Status | None, now_ms: int) -> int:
    """Return a generation that is later than any before, also than those that a lost store held.

    Nobody may remember the last one. The first is the time in seconds, and each change adds one, far less
    often than once a second: so the time is always ahead.
    """
    known = status.generation if status is not None else 0
    return max(known + 1, now_ms // _SECOND_MS)


def _next(course: Course, state: Rounds, status: Status, event: Decided) -> Status | None:
    now_ms, knobs = event.now_ms, course.knobs
    at = phase(status, now_ms, knobs=knobs)
    if at is Phase.DONE and event.replicas == status.expect:
        return settled(status, now_ms=now_ms) if status.current != status.expect else None
    if at is not Phase.DONE and _is_to_call_off(course, state, status, event):
        return called_off(status, now_ms=now_ms)
    grows = knobs.preempt_up and event.replicas > status.expect
    if event.are_victims_drained and not grows and is_due(status, now_ms, knobs=knobs):
        return settled(status, now_ms=now_ms)
    is_free = at is Phase.DONE or grows
    if not is_free:
        return None
    current = running(status, now_ms, knobs=knobs)
    decision = Decision(current=current, expect=event.replicas, why=event.why)
    return committed(status, decision, course.schedule, now_ms=now_ms)


def _is_to_call_off(course: Course, state: Rounds, status: Status, event: Decided) -> bool:
    since_ms = state.unknown_since_ms
    if since_ms is None or course.cancel_after_ms <= 0 or status.expect >= status.current:
        return False
    is_pending = phase(status, event.now_ms, knobs=course.knobs) is Phase.PENDING
    is_long = event.now_ms - since_ms > course.cancel_after_ms
    return is_pending and is_long and event.replicas <= status.expect


def _unknown_since(state: Rounds, event: Decided) -> int | None:
    if not event.is_down_unknown:
        return None
    return state.unknown_since_ms if state.unknown_since_ms is not None else event.now_ms


def _is_busy(state: Rounds) -> bool:
    return state.writing is not None or state.is_reading


def _put(state: Rounds, status: Status) -> Stepped:
    """Write a status; over one that is not followed it needs a later generation than that one has."""
    if status.generation <= state.refused_generation:
        status = replace(status, generation=state.refused_generation + 1)
    return replace(state, writing=status), (PutStatus(status, state.revision),)
