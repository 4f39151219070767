"""From answers to a written status: 60 s windows, evaluated every 20 s, one replica carries 100."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from springtide.engine.replicas.combination import Suggestion
from springtide.engine.replicas.deciding import (
    Command,
    Deciding,
    Evaluated,
    EvaluationDue,
    Event,
    Ordered,
    Rulebook,
    step,
)
from springtide.engine.replicas.growing_evaluation import GrowingPair
from springtide.engine.replicas.growing_windows import Growing
from springtide.engine.replicas.providers import (
    AskProvider,
    Provider,
    ProviderFailed,
    ProviderSaid,
)
from springtide.engine.replicas.round_messages import (
    Complain,
    NotWritten,
    PutStatus,
    ReadStatus,
    StatusSeen,
    Written,
)
from springtide.engine.replicas.rounds import Course
from springtide.engine.replicas.verdicts import Judged, Unknown, UnknownReason, Verdict
from springtide.engine.replicas.windows import Windows
from springtide.model.replicas.knobs import LEGACY
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.rules import Limits
from springtide.model.replicas.status import Status

ROOMS = Policy(name="rooms", up_per_replica=100, down_per_replica=100)
CPU = Policy(name="cpu", up_per_replica=100, down_per_replica=100)
LIMITS = Limits(replicas_min=2, replicas_max=40)
BOOK = Rulebook(policies=(ROOMS,), course=Course(limits=LIMITS))
BEGUN = Deciding(windows=Windows(up_ms=60_000, down_ms=60_000))
TEN = Status(current=10, expect=10, start_ms=0, end_ms=0, scaling_ms=0, generation=7)
SEEN = StatusSeen(status=TEN, revision=5, now_ms=0, cause="watch")
STALE = Unknown(UnknownReason.STALE, "It is old.")


def both(verdict: Verdict | int) -> Judged:
    """Return the same verdict for both directions."""
    found = Decimal(verdict) if isinstance(verdict, int) else verdict
    return Judged(up=found, down=found)


def due(at_s: int, *, floor: int = 0, **judged: Verdict | int) -> EvaluationDue:
    """Return an evaluation at this second."""
    return EvaluationDue(
        judged={name: both(verdict) for name, verdict in judged.items()},
        observed=10,
        now_ms=at_s * 1000,
        steady_ms=at_s * 1000,
        cause=f"pull at {at_s}",
        floor=floor,
    )


def after(
    *events: Event, book: Rulebook = BOOK, state: Deciding = BEGUN
) -> tuple[Deciding, tuple[Command, ...]]:
    """Return the state after events, and what the last one led to."""
    commands: tuple[Command, ...] = ()
    for event in events:
        state, commands = step(book, state, event)
    return state, commands


def put(commands: tuple[Command, ...]) -> list[tuple[int, int]]:
    """Return what is to be written, as replicas and generation."""
    return [
        (each.status.expect, each.status.generation)
        for each in commands
        if isinstance(each, PutStatus)
    ]


def test_what_is_asked_for_through_a_window_is_written_with_its_reason() -> None:
    """Covers R-4 in part."""
    dues = [due(at_s, rooms=400) for at_s in (20, 40, 60)]

    _, waiting = after(SEEN, *dues)
    _, commands = after(SEEN, *dues, due(80, rooms=400))

    assert put(waiting) == []
    assert put(commands) == [(4, 8)]
    assert commands[0] == Evaluated(
        4,
        Suggestion(4, 4),
        "The load needs 4, and 10 are expected. One step reaches it. That is within the bounds. "
        "So it is 4.",
    )


def test_after_an_outage_shrinking_waits_for_a_whole_window() -> None:
    """Covers R-46 in part."""
    before = [due(at_s, rooms=400) for at_s in (20, 40, 60)]
    outage = [due(at_s, rooms=STALE) for at_s in range(80, 600, 20)]
    back = [due(at_s, rooms=400) for at_s in (600, 620)]

    _, soon = after(SEEN, *before, *outage, *back)
    _, late = after(SEEN, *before, *outage, *back, due(640, rooms=400))

    assert put(soon) == []
    assert put(late) == [(4, 8)]


def test_what_is_unknown_is_told_with_its_reason() -> None:
    book = Rulebook(policies=(ROOMS, CPU), course=Course(limits=LIMITS))

    _, commands = after(SEEN, due(20, rooms=STALE), book=book)

    assert isinstance(commands[0], Evaluated)
    assert commands[0].why == (
        "rooms is unknown (stale): It is old. cpu has no answer yet. "
        "Nobody can tell whether fewer would do, so 10 stay. One step reaches it. "
        "That is within the bounds. So it is 10."
    )


def test_silence_is_no_demand_to_shrink() -> None:
    silence: tuple[Event, ...] = (SEEN, due(20, rooms=1000), due(1000, rooms=400))

    assert put(after(*silence)[1]) == []
    assert put(after(*silence, due(1059, rooms=400))[1]) == []
    assert put(after(*silence, due(1059, rooms=400), due(1060, rooms=400))[1]) == [(4, 8)]


def test_p_3_a_required_metric_that_is_unknown_holds_everybody() -> None:
    book = Rulebook(policies=(ROOMS, CPU), course=Course(limits=LIMITS))
    dues = [due(at_s, rooms=400, cpu=STALE) for at_s in (20, 40, 60, 80, 100)]
    silent = [due(at_s, rooms=400) for at_s in (20, 40, 60, 80, 100)]

    assert put(after(SEEN, *dues, book=book)[1]) == []
    assert put(after(SEEN, *silent, book=book)[1]) == []


def test_w_12_the_first_status_is_what_is_there_and_the_window_begins_then() -> None:
    nothing = StatusSeen(status=None, revision=0, now_ms=0, cause="watch")
    first: tuple[Event, ...] = (nothing, due(20, rooms=200), Written(revision=1, cause="put"))
    more = [due(at_s, rooms=200) for at_s in (40, 60)]

    assert put(after(nothing, due(20, rooms=200))[1]) == [(10, 20)]
    assert put(after(*first, *more)[1]) == []
    assert put(after(*first, *more, due(80, rooms=200))[1]) == [(2, 21)]


def test_w_8_after_a_lost_write_a_whole_window_passes() -> None:
    dues = [due(at_s, rooms=400) for at_s in (20, 40, 60, 80)]
    theirs = StatusSeen(status=TEN, revision=6, now_ms=80_000, cause="read")
    lost: tuple[Event, ...] = (SEEN, *dues, NotWritten(cause="put"))
    again = [due(at_s, rooms=400) for at_s in (100, 120, 140)]

    assert after(*lost)[1] == (ReadStatus(),)
    assert put(after(*lost, theirs, *again)[1]) == []
    assert put(after(*lost, theirs, *again, due(160, rooms=400))[1]) == [(4, 8)]


def test_providers_are_asked_before_anything_is_decided() -> None:
    book = Rulebook(policies=(ROOMS,), course=Course(limits=LIMITS), providers=(Provider("vip"),))
    state = Deciding()
    said = ProviderSaid(name="vip", up=14, down=14, cause="vip")

    _, asked = after(SEEN, due(20, rooms=400), book=book, state=state)
    _, commands = after(SEEN, due(20, rooms=400), said, book=book, state=state)

    assert asked == (AskProvider("vip", Suggestion(4, 4)),)
    assert put(commands) == [(14, 8)]


def test_a_provider_that_fails_is_told_and_holds() -> None:
    book = Rulebook(policies=(ROOMS,), course=Course(limits=LIMITS), providers=(Provider("vip"),))
    failed = ProviderFailed(name="vip", why="late", cause="vip")

    _, commands = after(SEEN, due(20, rooms=400), failed, book=book, state=Deciding())

    assert commands[0] == Complain("Provider vip failed, so nothing shrinks: late.")
    assert put(commands) == []


def test_an_answer_of_a_provider_that_nobody_waits_for_changes_nothing() -> None:
    said = ProviderSaid(name="vip", up=14, down=14, cause="vip")

    assert after(said) == (BEGUN, ())


@pytest.mark.parametrize(("is_forced", "written"), [(True, [(6, 8)]), (False, [])])
def test_an_order_waits_for_the_windows_unless_it_is_forced(
    *, is_forced: bool, written: list[tuple[int, int]]
) -> None:
    order = Ordered(replicas=6, is_forced=is_forced, cause="operator")

    assert put(after(SEEN, order, due(20, rooms=STALE))[1]) == written


def test_a_floor_keeps_what_something_stands_on() -> None:
    _, commands = after(SEEN, due(20, floor=7, rooms=100), state=Deciding())

    assert put(commands) == [(7, 8)]


def test_a_hold_blocks_shrinking_and_is_told() -> None:
    """Covers R-50 in part."""
    held = replace(due(20, rooms=400), holds=("Nobody lives under 3.",))

    _, commands = after(SEEN, held, state=Deciding())

    assert put(commands) == []
    assert isinstance(commands[0], Evaluated)
    assert commands[0].why.endswith(
        "So it is 4. Nobody lives under 3. So nothing shrinks, and 10 stay."
    )


def test_a_hold_lets_growth_through_and_ends_with_its_cause() -> None:
    def held(at_s: int, rooms: int) -> EvaluationDue:
        return replace(due(at_s, rooms=rooms), holds=("Nobody lives under 3.",))

    grown = after(SEEN, held(20, 1400), state=Deciding())
    freed = after(SEEN, held(20, 400), held(40, 400), held(60, 400), due(80, rooms=400))

    assert put(grown[1]) == [(14, 8)]
    assert put(freed[1]) == [(4, 8)]


def test_a_hold_keeps_an_older_fleet_as_well() -> None:
    book = Rulebook(policies=(ROOMS,), course=Course(limits=LIMITS, knobs=LEGACY))
    held = replace(due(20, rooms=400), holds=("Nobody lives under 3.",))

    assert put(after(SEEN, held, book=book, state=Deciding())[1]) == []


def test_c_10_an_older_fleet_lets_one_dip_through() -> None:
    book = Rulebook(policies=(ROOMS,), course=Course(limits=LIMITS, knobs=LEGACY))
    minute = Growing(window_ms=60_000)
    state = Deciding(growing=GrowingPair(up=minute, down=minute))
    back = [due(at_s, rooms=1000) for at_s in (40, 60, 80)]

    _, commands = after(SEEN, due(20, rooms=400), *back, book=book, state=state)

    assert put(commands) == [(4, 8)]


def test_a_policy_s_own_window_holds_it_back_and_is_told() -> None:
    """Covers R-14."""
    slow = replace(ROOMS, window_up_ms=60_000)
    book = Rulebook(policies=(slow,), course=Course(limits=LIMITS))
    dues = [due(at_s, rooms=1400) for at_s in (20, 40, 60)]

    _, waiting = after(SEEN, *dues, book=book, state=Deciding())
    _, commands = after(SEEN, *dues, due(80, rooms=1400), book=book, state=Deciding())

    assert put(waiting) == []
    assert isinstance(waiting[0], Evaluated)
    assert waiting[0].why.startswith("rooms asks for 14, and by its own limits for 10 now.")
    assert put(commands) == [(14, 8)]


def test_a_policy_s_own_window_begins_anew_where_others_wrote() -> None:
    slow = replace(ROOMS, window_down_ms=60_000)
    book = Rulebook(policies=(slow,), course=Course(limits=LIMITS))
    dues = [due(at_s, rooms=400) for at_s in (20, 40, 60, 80)]
    theirs = StatusSeen(status=TEN, revision=6, now_ms=80_000, cause="read")
    lost: tuple[Event, ...] = (SEEN, *dues, NotWritten(cause="put"), theirs)
    again = [due(at_s, rooms=400) for at_s in (100, 120, 140)]

    assert put(after(*lost, *again, book=book, state=Deciding())[1]) == []
    assert put(after(*lost, *again, due(160, rooms=400), book=book, state=Deciding())[1]) == [
        (4, 8)
    ]


def test_a_window_shorter_than_the_time_between_evaluations_opens() -> None:
    slow = Rulebook(policies=(ROOMS,), course=Course(limits=LIMITS, silence_ms=360_000))

    assert put(after(SEEN, *[due(at_s, rooms=400) for at_s in (180, 360)], book=slow)[1]) == [
        (4, 8)
    ]
