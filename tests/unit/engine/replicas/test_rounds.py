"""Rounds by their times: committed at 1000 s, 60 s for each part, 12 replicas run."""

import msgspec
import pytest
from msgspec.structs import replace

from springtide.engine.replicas.phases import PHASE_BITS, Phase, exported, phase
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
    Written,
)
from springtide.engine.replicas.rounds import Course, Rounds, step
from springtide.model.replicas.knobs import LEGACY, SAFE, Knobs, Publication
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.status import Status

MINUTES = Schedule(start_delay_ms=60_000, period_ms=60_000, scaling_delay_ms=60_000)
COURSE = Course(schedule=MINUTES, limits=Limits(replicas_max=40), cancel_after_ms=30_000)
TWELVE = Status(
    current=12, expect=12, start_ms=0, end_ms=0, scaling_ms=0, generation=7, reason="before"
)
TO_TEN = Status(
    current=12,
    expect=10,
    start_ms=1_060_000,
    end_ms=1_120_000,
    scaling_ms=1_180_000,
    generation=8,
    reason="less load",
    written_ms=1_000_000,
)
EARLY = Knobs(publication=Publication.EARLY)


def decided(replicas: int, at_s: int, *, is_unknown: bool = False, observed: int = 12) -> Decided:
    """Return a decision."""
    return Decided(
        replicas=replicas,
        observed=observed,
        now_ms=at_s * 1000,
        why="less load",
        cause="evaluation",
        is_down_unknown=is_unknown,
    )


def seen(status: Status | None, revision: int = 5, at_s: int = 1000) -> StatusSeen:
    """Return what the store holds."""
    return StatusSeen(status=status, revision=revision, now_ms=at_s * 1000, cause="watch")


def after(*events: Event, course: Course = COURSE) -> tuple[Rounds, tuple[Command, ...]]:
    """Return the state after events, and what the last one led to."""
    state = Rounds()
    commands: tuple[Command, ...] = ()
    for event in events:
        state, commands = step(course, state, event)
    return state, commands


def put(commands: tuple[Command, ...]) -> Status:
    """Return the status that is to be written."""
    return next(each.status for each in commands if isinstance(each, PutStatus))


def test_w_1_a_round_has_three_times() -> None:
    """Covers R-20."""
    _, commands = after(seen(TWELVE), decided(10, 1000))

    assert commands == (PutStatus(TO_TEN, 5),)


E_ROWS = {
    "W-2 at 1179": (TO_TEN, SAFE, 1179, 12),
    "W-2 at 1180": (TO_TEN, SAFE, 1180, 10),
    "W-2 at 1181": (TO_TEN, SAFE, 1181, 10),
    "W-2 older at 1180": (TO_TEN, LEGACY, 1180, 12),
    "W-2 older at 1181": (TO_TEN, LEGACY, 1181, 10),
    "W-3 at 1000": (replace(TO_TEN, expect=14), SAFE, 1000, 12),
    "W-3 at 1180": (replace(TO_TEN, expect=14), SAFE, 1180, 14),
    "W-3 early": (replace(TO_TEN, expect=14), EARLY, 1000, 14),
    "fewer are never early": (TO_TEN, EARLY, 1179, 12),
    "fewer in the end": (TO_TEN, EARLY, 1180, 10),
}


@pytest.mark.parametrize(("status", "knobs", "at_s", "shown"), E_ROWS.values(), ids=E_ROWS)
def test_others_are_shown(status: Status, knobs: Knobs, at_s: int, shown: int) -> None:
    """Covers R-4 in part."""
    assert exported(status, at_s * 1000, knobs=knobs) == shown


def test_a_round_passes_its_phases() -> None:
    times_s = (1059, 1060, 1120, 1180)

    phases = [phase(TO_TEN, at_s * 1000) for at_s in times_s]

    assert phases == list(Phase)
    assert [PHASE_BITS[each] for each in phases] == [0x100, 0x200, 0x400, 0x800]


def test_w_4_growing_takes_the_place_of_a_running_round() -> None:
    _, commands = after(seen(TO_TEN), decided(13, 1080))

    status = put(commands)
    assert (status.current, status.expect, status.start_ms) == (12, 13, 1_140_000)
    assert status.generation == 9


def test_an_older_fleet_lets_a_round_finish_first() -> None:
    older = replace(COURSE, knobs=LEGACY)

    _, commands = after(seen(TO_TEN), decided(13, 1080), course=older)

    assert commands == ()


def test_w_5_shrinking_further_waits_for_the_end() -> None:
    _, waiting = after(seen(TO_TEN), decided(9, 1130))
    _, done = after(seen(TO_TEN), decided(9, 1180))

    assert waiting == ()
    assert (put(done).current, put(done).expect) == (10, 9)


def test_w_6_a_round_that_shrinks_is_called_off_when_inputs_stay_unknown() -> None:
    unknown = [decided(10, at_s, is_unknown=True) for at_s in (1010, 1030, 1041)]

    _, commands = after(seen(TO_TEN), *unknown)

    status = put(commands)
    assert (status.current, status.expect, status.generation) == (12, 12, 9)
    assert status.reason == "It stayed unknown whether fewer are safe, so the 12 that run are kept."


def test_an_input_that_is_known_again_keeps_the_round() -> None:
    events = (
        decided(10, 1010, is_unknown=True),
        decided(10, 1030),
        decided(10, 1041, is_unknown=True),
    )

    assert after(seen(TO_TEN), *events)[1] == ()


def test_a_round_that_has_started_is_not_called_off() -> None:
    unknown = [decided(10, at_s, is_unknown=True) for at_s in (1010, 1061)]

    assert after(seen(TO_TEN), *unknown)[1] == ()


def test_w_7_the_same_number_is_not_written_again() -> None:
    assert after(seen(TWELVE), decided(12, 1000))[1] == ()


def test_w_8_who_loses_reads_again_and_does_not_push() -> None:
    """Covers R-55 in part."""
    lost = (seen(TWELVE), decided(10, 1000), NotWritten(cause="put"))

    _, commands = after(*lost)
    _, meanwhile = after(*lost, decided(10, 1001))
    state, primed = after(*lost, seen(TO_TEN, 6))

    assert commands == (ReadStatus(),)
    assert meanwhile == ()
    assert primed == (PrimeWindows(10),)
    assert state.revision == 6


def test_a_new_leader_reads_the_status_and_begins_its_windows_anew() -> None:
    begun = (seen(TWELVE), Begun(cause="lock"))

    assert after(*begun)[1] == (ReadStatus(),)
    assert after(*begun, decided(10, 1000))[1] == ()
    assert after(*begun, seen(TO_TEN, 6))[1] == (PrimeWindows(10),)
    assert after(*begun, seen(None, 0))[1] == (PrimeWindows(12),)


def test_w_9_an_operator_delays_a_round_and_never_hastens_it() -> None:
    def wanted(seconds: int) -> Rescheduled:
        ms = seconds * 1000
        schedule = Schedule(start_delay_ms=ms, period_ms=ms, scaling_delay_ms=ms)
        return Rescheduled(wanted=schedule, now_ms=1_010_000, cause="operator")

    _, shorter = after(seen(TO_TEN), wanted(30))
    _, longer = after(seen(TO_TEN), wanted(90))

    assert put(shorter) == replace(TO_TEN, written_ms=1_010_000)
    assert put(longer).start_ms == 1_100_000
    assert put(longer).scaling_ms == 1_280_000


def test_w_11_a_round_that_is_over_is_settled_once() -> None:
    over = (seen(TO_TEN), decided(10, 1180))

    state, commands = after(*over)
    _, again = after(*over, Written(revision=6, cause="put"), decided(10, 1200))

    assert put(commands).current == 10
    assert put(commands).generation == 8
    assert state.writing == put(commands)
    assert again == ()


def test_w_12_the_first_status_says_how_many_there_are() -> None:
    _, commands = after(seen(None, 0), decided(2, 1000, observed=10))

    status = put(commands)
    assert (status.current, status.expect, status.generation) == (10, 10, 1000)
    assert commands[1] == PrimeWindows(10)


BAD = {
    "W-13 expect 0": replace(TO_TEN, expect=0),
    "W-13 start after end": replace(TO_TEN, start_ms=1_130_000),
    "too many": replace(TO_TEN, expect=81),
    "fewer than none run": replace(TO_TEN, current=-1),
    "far ahead": replace(TO_TEN, scaling_ms=1_000_000 + 24 * 3_600_000 + 1),
    "an older generation": replace(TO_TEN, generation=6),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_status_is_told_and_not_followed(bad: Status) -> None:
    state, commands = after(seen(TWELVE), seen(bad, 6))

    assert state.status == TWELVE
    assert isinstance(commands[0], Complain)
    assert commands[0].words.endswith("The last good one still holds.")


@pytest.mark.parametrize("generation", [6, 7, 8, 50])
def test_a_bad_status_is_written_over_under_a_later_generation(generation: int) -> None:
    bad = replace(TO_TEN, expect=0, generation=generation)

    _, commands = after(seen(TWELVE), seen(bad, 6), decided(10, 1000))

    assert commands == (PutStatus(replace(TO_TEN, generation=max(8, generation + 1)), 6),)


def test_a_first_status_that_is_bad_is_written_over_by_what_is_there() -> None:
    _, commands = after(seen(BAD["W-13 expect 0"]), decided(2, 1000, observed=10))

    assert put(commands).expect == 10
    assert put(commands).generation == 1000


def test_an_old_event_of_a_watch_changes_nothing() -> None:
    state, _ = after(seen(TO_TEN, 6), seen(TWELVE, 5))

    assert state.status == TO_TEN


def test_a_status_that_is_gone_is_written_again_from_memory() -> None:
    _, commands = after(seen(TO_TEN), seen(None, 0), decided(3, 1070))

    assert commands == (PutStatus(replace(TO_TEN, generation=1070, written_ms=1_070_000), 0),)


def test_a_generation_is_later_than_any_that_a_lost_store_held_whoever_remembers_what() -> None:
    _, first = after(seen(None, 0), decided(2, 1000, observed=10))
    begun = put(first)
    _, unaware = after(seen(None, 0), decided(2, 1100, observed=10))
    _, behind = after(seen(begun), seen(None, 0), decided(2, 1100))
    _, ahead = after(seen(replace(begun, generation=5000)), seen(None, 0), decided(2, 1100))

    assert put(unaware).generation == 1100
    assert put(behind).generation == 1100
    assert put(ahead).generation == 5001


def test_nothing_is_decided_while_a_status_is_being_written() -> None:
    writing = (seen(TWELVE), decided(10, 1000))

    assert after(*writing, decided(14, 1001))[1] == ()


def test_a_delay_of_no_round_is_no_round() -> None:
    late = Rescheduled(wanted=MINUTES, now_ms=0, cause="operator")

    assert after(late) == (Rounds(), ())


def test_the_story_of_a_round_can_be_replayed_from_its_events() -> None:
    story: list[Event] = [seen(TWELVE), decided(10, 1000), Written(revision=6, cause="put")]

    text = msgspec.json.encode(story)
    replayed = msgspec.json.decode(text, type=list[Event])

    assert after(*replayed) == after(*story)


WAITING = Knobs(waits_for_drain=True)
PATIENT = replace(COURSE, knobs=WAITING)


def test_fewer_are_shown_only_once_those_who_leave_have_drained() -> None:
    """Covers R-38 in part."""
    assert phase(TO_TEN, 9_000_000, knobs=WAITING) is Phase.WAITING
    assert exported(TO_TEN, 9_000_000, knobs=WAITING) == 12
    assert exported(replace(TO_TEN, current=10), 9_000_000, knobs=WAITING) == 10
    assert exported(replace(TO_TEN, expect=14), 9_000_000, knobs=WAITING) == 14


@pytest.mark.parametrize(
    ("at_s", "replicas", "is_drained", "written"),
    [
        (1180, 10, False, None),
        (1179, 10, True, None),
        (1180, 10, True, (10, 10, 8)),
        (1180, 8, True, (10, 10, 8)),
        (1180, 11, True, (12, 11, 9)),
    ],
)
def test_a_round_that_waits_ends_with_the_drain_unless_it_grows(
    at_s: int, replicas: int, *, is_drained: bool, written: tuple[int, int, int] | None
) -> None:
    event = replace(decided(replicas, at_s), are_victims_drained=is_drained)

    _, commands = after(seen(TO_TEN), event, course=PATIENT)

    puts = [each.status for each in commands if isinstance(each, PutStatus)]
    found = [(each.current, each.expect, each.generation) for each in puts]
    assert found == ([written] if written else [])


def test_a_drain_ends_no_round_that_does_not_wait_for_it() -> None:
    event = replace(decided(9, 1180), are_victims_drained=True)

    status = put(after(seen(TO_TEN), event)[1])

    assert (status.current, status.expect, status.generation) == (10, 9, 9)
