"""Standing for election, event by event."""

from msgspec.structs import replace

from springtide.engine.election import (
    Election,
    Event,
    Finished,
    LeaseRead,
    LeaseSeen,
    LeaseUnknown,
    LeaseWritten,
    Led,
    Lost,
    ReadLease,
    Standing,
    Stopped,
    Tick,
    WakeAt,
    WriteLease,
)
from springtide.engine.election.standing import Commands, step
from springtide.model.lease import Lease

ELECTION = Election(namespace="n", name="office", identity="me")
OURS = Lease(namespace="n", name="office", holder="me", duration_s=15, version="1")
THEIRS = replace(OURS, holder="them", transitions=4)


def after(*events: Event) -> tuple[Standing, Commands]:
    """Return the state after events, and what the last one led to."""
    state = Standing()
    commands: Commands = ()
    for event in events:
        state, commands = step(ELECTION, state, event)
    return state, commands


LEADING = (Tick(0.0), LeaseRead(None, 0.1), LeaseWritten(OURS, 0.2))


def test_the_lease_is_read_first() -> None:
    _, commands = after(Tick(0.0))

    assert commands == (ReadLease(5.0),)


def test_a_lease_that_is_not_there_is_created() -> None:
    _, commands = after(Tick(0.0), LeaseRead(None, 0.1))

    ours = replace(OURS, version="")
    assert commands == (WriteLease(lease=ours, takes=True, within_s=5.0),)


def test_whoever_has_written_it_leads_and_wakes_to_renew() -> None:
    state, commands = after(*LEADING)

    assert commands == (Led(0), WakeAt(2.2))
    assert state.is_leading(ELECTION, 10.0)
    assert not state.is_leading(ELECTION, 10.1)


def test_a_leader_renews_without_reading() -> None:
    _, commands = after(*LEADING, Tick(2.2))

    assert commands == (WriteLease(lease=OURS, takes=False, within_s=5.0), WakeAt(10.1))


def test_a_leader_whose_renewal_fails_reads_and_tries_again() -> None:
    state, commands = after(*LEADING, Tick(2.2), LeaseUnknown(3.0))
    _, then = step(ELECTION, state, Tick(5.0))

    assert commands == (WakeAt(5.0),)
    assert then == (ReadLease(5.0),)


def test_a_leader_without_renewal_stops_in_time() -> None:
    _, commands = after(*LEADING, Tick(2.2), LeaseUnknown(7.2), Tick(10.1))

    assert commands[0] == Lost("No longer the leader: there was no renewal within 10 s.")


def test_a_renewal_that_comes_too_late_makes_no_leader() -> None:
    state, commands = after(Tick(0.0), LeaseRead(None, 0.0), LeaseWritten(OURS, 10.0))

    assert commands == (WakeAt(12.0),)
    assert not state.is_leading(ELECTION, 10.0)


def test_a_leader_that_was_replaced_says_by_whom() -> None:
    _, commands = after(*LEADING, Tick(2.2), LeaseUnknown(3.0), Tick(5.0), LeaseRead(THEIRS, 5.1))

    assert commands[0] == Lost("No longer the leader: them holds the lease.")


def test_the_lease_of_another_is_taken_once_nobody_changed_it_for_its_duration() -> None:
    events = (Tick(0.0), LeaseRead(THEIRS, 1.0), Tick(14.0))
    _, early = after(*events, LeaseRead(THEIRS, 15.9))
    _, late = after(*events, LeaseRead(THEIRS, 16.0))

    taken = replace(THEIRS, holder="me", transitions=5)
    assert early == (WakeAt(17.9),)
    assert late == (WriteLease(lease=taken, takes=True, within_s=5.0),)


def test_any_change_by_its_holder_starts_the_wait_anew() -> None:
    renewed = replace(THEIRS, renewed="later", version="2")
    _, commands = after(
        Tick(0.0), LeaseRead(THEIRS, 1.0), Tick(14.0), LeaseRead(renewed, 14.1),
        Tick(17.0), LeaseRead(renewed, 17.0),
    )  # fmt: skip

    assert commands == (WakeAt(19.0),)


def test_a_lease_without_duration_is_no_free_one() -> None:
    _, commands = after(Tick(0.0), LeaseRead(replace(THEIRS, duration_s=0), 1.0))

    assert commands == (WakeAt(3.0),)


def test_a_seat_that_is_seen_to_become_free_is_looked_at_once() -> None:
    freed = replace(THEIRS, holder="", version="2")
    _, commands = after(Tick(0.0), LeaseRead(THEIRS, 1.0), LeaseSeen(freed, 1.5))

    assert commands == (ReadLease(5.0),)


def test_a_leader_that_ends_stops_and_then_gives_the_lease_back() -> None:
    state, commands = after(*LEADING, Stopped(1.0))
    freed = replace(OURS, holder="", duration_s=1)
    finished, then = step(ELECTION, state, LeaseWritten(replace(freed, version="2"), 1.1))

    assert commands == (
        Lost("No longer the leader: the process ends."),
        WriteLease(lease=freed, takes=False, within_s=5.0),
    )
    assert then == (Finished(),)
    assert step(ELECTION, finished, Tick(2.0)) == (finished, ())


def test_who_ends_while_taking_the_lease_gives_it_back() -> None:
    _, commands = after(Tick(0.0), LeaseRead(None, 0.1), Stopped(0.15), LeaseWritten(OURS, 0.2))

    freed = replace(OURS, holder="", duration_s=1)
    assert commands == (WriteLease(lease=freed, takes=False, within_s=5.0),)


def test_who_ends_and_does_not_lead_has_nothing_to_do() -> None:
    _, idle = after(Tick(0.0), LeaseRead(THEIRS, 1.0), Stopped(1.5))
    _, asking = after(Tick(0.0), Stopped(0.1), LeaseUnknown(5.0))

    assert idle == (Finished(),)
    assert asking == (Finished(),)
