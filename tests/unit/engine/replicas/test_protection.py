"""Records of who may hold state, event by event."""

from springtide.engine.replicas.protection import (
    Audit,
    Command,
    DeleteRecord,
    DrainedFully,
    Event,
    MemberLost,
    MembersSeen,
    Protection,
    PutRecord,
    RecordsSeen,
    Recovered,
    Released,
    Served,
    floor,
    step,
)
from springtide.model.replicas.member import Record

FIRST = Record(member="chat-3", boot="a", at_ms=1)
SECOND = Record(member="chat-3", boot="b", at_ms=2)
SERVED = Served(index=4, record=FIRST, cause="label")
GONE = MembersSeen(living=frozenset(), cause="members")
THERE = MembersSeen(living=frozenset({"a"}), cause="members")


def after(*events: Event) -> tuple[Protection, tuple[Command, ...]]:
    """Return the records after events, and what the last one led to."""
    state = Protection()
    commands: tuple[Command, ...] = ()
    for event in events:
        state, commands = step(state, event)
    return state, commands


def test_who_serves_is_written_down() -> None:
    state, commands = after(SERVED)

    assert commands == (PutRecord(4, FIRST),)
    assert floor(state.records) == 4


def test_a_drain_takes_the_record_away() -> None:
    state, commands = after(SERVED, DrainedFully(index=4, boot="a", cause="label"))

    assert commands == (DeleteRecord(4, "a"),)
    assert floor(state.records) == 0


def test_another_run_cannot_take_the_record_away() -> None:
    state, commands = after(SERVED, DrainedFully(index=4, boot="b", cause="label"))

    assert commands == ()
    assert floor(state.records) == 4


def test_a_crash_is_told_once_and_lowers_nothing() -> None:
    """Covers R-49 in part, R-58 in part."""
    state, commands = after(SERVED, THERE, GONE)
    _, again = step(state, GONE)

    assert commands == (MemberLost(4, FIRST),)
    assert again == ()
    assert floor(state.records) == 4


def test_a_member_that_was_only_away_is_told_again_when_it_is_lost() -> None:
    assert after(SERVED, GONE, THERE, GONE)[1] == (MemberLost(4, FIRST),)


def test_l_21_a_restarted_member_keeps_the_old_record_until_it_has_recovered() -> None:
    again = Served(index=4, record=SECOND, cause="label")

    state, commands = after(SERVED, GONE, again)

    assert commands == ()
    assert state.records == {4: FIRST}


def test_l_21_the_owner_says_what_it_recovered() -> None:
    nothing = Recovered(index=4, record=SECOND, holds_state=False, cause="application")
    all_of_it = Recovered(index=4, record=SECOND, holds_state=True, cause="application")

    assert after(SERVED, GONE, nothing)[1] == (DeleteRecord(4, "a"),)
    assert after(SERVED, GONE, all_of_it)[1] == (PutRecord(4, SECOND),)
    assert after(nothing) == (Protection(), ())


def test_an_operator_releases_and_that_is_kept() -> None:
    released = Released(index=4, operator="kim", cause="command")

    _, commands = after(SERVED, released)
    _, nothing = after(released)

    assert commands == (
        Audit("kim released number 4, which chat-3 may have held."),
        DeleteRecord(4, "a"),
    )
    assert nothing == (Audit("kim released number 4, which nothing protected."),)


def test_the_floor_is_the_highest_of_labels_and_records() -> None:
    state, _ = after(RecordsSeen(records={2: FIRST}, cause="watch"))

    assert floor(state.records, frozenset({1, 3})) == 3
    assert floor(state.records, frozenset({1})) == 2
