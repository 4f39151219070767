"""Who decides, event by event: a lock of 15 s, 5 s of them for safety, and a pull each 20 s."""

from msgspec.structs import replace

from springtide.edge.store.fencing import FenceReason, Offer, Stored, refusal
from springtide.engine.replicas.leadership import (
    BeginLeading,
    Command,
    EndLeading,
    Event,
    Leadership,
    LockSeen,
    NotWon,
    Pulled,
    ReleaseLock,
    Renewed,
    Stage,
    StandingSeen,
    Terms,
    Tick,
    TryLock,
    WakeAt,
    Won,
    step,
)
from springtide.model.replicas.status import Status

TERMS = Terms(pull_interval_ms=20_000)
TWELVE = Status(current=12, expect=12, start_ms=0, end_ms=0, scaling_ms=0, generation=7)


def standing(place: int = 0, *, is_eligible: bool = True, at_ms: int = 0) -> StandingSeen:
    """Return the news of this member's place."""
    return StandingSeen(is_eligible=is_eligible, place=place, now_ms=at_ms, cause="members")


def lock(*, is_free: bool, at_ms: int = 0) -> LockSeen:
    """Return the news of the lock."""
    return LockSeen(is_free=is_free, now_ms=at_ms, cause="watch")


def tick(at_ms: int) -> Tick:
    """Return a tick."""
    return Tick(now_ms=at_ms, cause="clock")


FREE = lock(is_free=True)
WON = Won(token=9, asked_ms=0, now_ms=100, cause="lock")
WARM = (standing(), FREE, WON)


def renewed(at_ms: int) -> Renewed:
    """Return a renewal."""
    return Renewed(asked_ms=at_ms, cause="lock")


def after(*events: Event) -> tuple[Leadership, tuple[Command, ...]]:
    """Return where a member stands after events, and what the last one led to."""
    state = Leadership()
    commands: tuple[Command, ...] = ()
    for event in events:
        state, commands = step(TERMS, state, event)
    return state, commands


def test_n_1_the_first_in_the_order_tries_first() -> None:
    _, first = after(standing(0), FREE)
    _, third = after(standing(2), FREE)
    _, later = after(standing(2), FREE, tick(2000))

    assert first == (TryLock(),)
    assert third == (WakeAt(2000),)
    assert later == (TryLock(),)


def test_a_lock_that_is_taken_meanwhile_is_not_tried() -> None:
    state, _ = after(standing(2), FREE, lock(is_free=False, at_ms=500))

    assert step(TERMS, state, tick(2000)) == (state, ())


def test_who_comes_too_late_follows_until_the_lock_is_free_again() -> None:
    lost = (standing(), FREE, NotWon(cause="lock"))

    state, _ = after(*lost)
    _, again = after(*lost, lock(is_free=True, at_ms=9000))

    assert state.stage is Stage.FOLLOWER
    assert again == (TryLock(),)


def test_n_2_a_leader_that_was_frozen_stops_before_others_start() -> None:
    """Covers R-55 in part."""
    state, commands = after(*WARM, tick(10_000))

    assert state.stage is Stage.FOLLOWER
    assert commands == (EndLeading(),)


def test_n_3_a_new_leader_decides_after_one_pull_interval_and_a_whole_pull() -> None:
    """Covers R-53 in part."""
    renewals = (renewed(5_000), renewed(12_000))
    early = Pulled(now_ms=15_000, cause="pull")
    late = Pulled(now_ms=20_100, cause="pull")

    waiting, _ = after(*WARM, *renewals, early)
    leading, _ = after(*WARM, *renewals, early, late)

    assert waiting.stage is Stage.WARMING
    assert leading.stage is Stage.LEADING


def test_winning_begins_with_the_status_and_fresh_windows() -> None:
    _, commands = after(*WARM)

    assert commands == (BeginLeading(9), WakeAt(10_000))


def test_n_4_a_member_that_stops_does_not_try() -> None:
    assert after(standing(is_eligible=False), FREE)[1] == ()


def test_n_6_a_leader_that_stops_releases_at_once() -> None:
    state, commands = after(*WARM, standing(is_eligible=False, at_ms=300))

    assert not state.holds_lock
    assert commands == (EndLeading(), ReleaseLock(9))


def test_a_lock_that_comes_after_the_stop_is_given_back() -> None:
    stopped = (standing(), FREE, standing(is_eligible=False))

    state, commands = after(*stopped, WON)

    assert not state.holds_lock
    assert commands == (ReleaseLock(9),)


def test_a_lock_that_comes_too_late_is_given_back() -> None:
    late = replace(WON, now_ms=10_000)

    assert after(standing(), FREE, late)[1] == (ReleaseLock(9),)


def test_renewals_count_from_when_they_were_asked_for() -> None:
    state, commands = after(*WARM, renewed(5_000))

    assert commands == (WakeAt(15_000),)
    assert step(TERMS, state, renewed(4_000)) == (state, ())
    assert step(TERMS, state, tick(14_999)) == (state, ())
    assert after(renewed(1)) == (Leadership(), ())


def test_a_member_that_waits_and_stops_follows() -> None:
    state, commands = after(standing(2), FREE, standing(2, is_eligible=False))

    assert (state.stage, commands) == (Stage.FOLLOWER, ())


def test_an_answer_that_nobody_waits_for_changes_nothing() -> None:
    assert after(NotWon(cause="lock")) == (Leadership(), ())


def test_a_write_is_taken_only_from_who_holds_the_lock_over_what_it_saw() -> None:
    stored = Stored(token=9, revision=4, status=TWELVE)
    to_ten = replace(TWELVE, expect=10, generation=8)

    def answer(token: int, revision: int, status: Status) -> FenceReason | None:
        return refusal(stored, Offer(token=token, revision=revision, status=status))

    assert answer(9, 4, to_ten) is None
    assert answer(8, 4, to_ten) is FenceReason.DEPOSED
    assert answer(9, 3, to_ten) is FenceReason.CHANGED
    assert answer(9, 4, replace(to_ten, generation=7)) is FenceReason.GENERATION_NOT_GROWN
    assert answer(9, 4, replace(TWELVE, generation=6)) is FenceReason.GENERATION_NOT_GROWN
    assert answer(9, 4, TWELVE) is None
