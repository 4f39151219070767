"""Labels by their times, told as Target/Ready. A round from 12 to 10 starts at 1060 s."""

from msgspec.structs import replace

from springtide.engine.replicas.gates import LabelRules, Plan
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
from springtide.engine.replicas.labels import Labels, step
from springtide.model.replicas.member import READY_LABEL, TARGET_LABEL
from springtide.model.replicas.rules import Schedule
from springtide.model.replicas.status import Status

MINUTES = Schedule(start_delay_ms=60_000, period_ms=60_000, scaling_delay_ms=60_000)
RULES = LabelRules(schedule=MINUTES)
TO_TEN = Status(
    current=12,
    expect=10,
    start_ms=1_060_000,
    end_ms=1_120_000,
    scaling_ms=1_180_000,
    generation=8,
)
TO_TWELVE = replace(
    TO_TEN, expect=12, start_ms=1_260_000, end_ms=1_320_000, scaling_ms=1_380_000, generation=9
)
PLAN = Plan(booted_ms=0, index=12, status=TO_TEN, is_status_known=True)
BOOTING = Labels(plan=Plan(booted_ms=0, index=12))
SERVING = Labels(plan=PLAN, is_target=True, is_ready=True, protected=12)
LEAVING = Labels(plan=PLAN, is_ready=True, protected=12)
GONE = Labels(plan=PLAN)


def look(
    at_s: int, *, ready: Check = Check.ABSENT, stateful: Check = Check.ABSENT, ms: int = 0
) -> Looked:
    """Return a look at this second."""
    return Looked(now_ms=at_s * 1000 + ms, cause="tick", ready=ready, stateful=stateful)


def known(status: Status) -> StatusKnown:
    """Return the news of a status."""
    return StatusKnown(status=status, cause="watch")


def ran(
    state: Labels, *events: Event, rules: LabelRules = RULES
) -> tuple[Labels, tuple[Command, ...]]:
    """Return the state after events, and all that they led to."""
    commands: list[Command] = []
    for event in events:
        state, new = step(rules, state, event)
        commands += new
    return state, tuple(commands)


def shown(state: Labels, *events: Event, rules: LabelRules = RULES) -> str:
    """Return the labels after events."""
    state, _ = ran(state, *events, rules=rules)
    return f"{int(state.is_target)}/{int(state.is_ready)}"


def test_the_labels_have_the_names_that_others_select_by() -> None:
    """Covers R-17 in part."""
    assert (TARGET_LABEL, READY_LABEL) == ("hpa_scaling_target", "hpa_scaling_ready")


def test_l_1_without_a_status_a_member_serves_after_a_minute() -> None:
    """Covers R-25."""
    looks = [look(at_s) for at_s in (0, 1, 59, 60)]

    assert [shown(BOOTING, *looks[:count]) for count in (1, 2, 3, 4)] == [
        "0/0", "1/0", "1/0", "1/1",
    ]  # fmt: skip


def test_l_1_an_older_fleet_is_a_second_later() -> None:
    older = replace(RULES, is_strict_time=True)
    looks = [look(at_s) for at_s in (1, 2, 60, 61)]

    assert [shown(BOOTING, *looks[:count], rules=older) for count in (1, 2, 3, 4)] == [
        "0/0", "1/0", "1/0", "1/1",
    ]  # fmt: skip


def test_l_2_a_member_serves_when_its_application_is_ready() -> None:
    """Covers R-24."""
    waiting = [look(1), look(99, ready=Check.NO), look(99, ready=Check.UNKNOWN)]

    assert shown(BOOTING, *waiting) == "1/0"
    assert shown(BOOTING, *waiting, look(100, ready=Check.YES)) == "1/1"


def test_l_3_a_leaving_member_is_no_target_from_the_start_on() -> None:
    """Covers R-21, R-26 in part."""
    state, commands = ran(SERVING, look(1060, stateful=Check.YES))

    assert (state.is_target, state.is_ready) == (False, True)
    assert commands == (
        PublishLabels(is_target=False, is_ready=True),
        TargetChanged(is_target=False),
    )


def test_l_4_a_member_that_holds_state_keeps_serving() -> None:
    """Covers R-22, R-48 in part."""
    state, commands = ran(LEAVING, look(1120, stateful=Check.YES))

    assert state.is_ready
    assert commands == ()
    assert state.overdue_ms(1_180_000) == 60_000


def test_l_5_a_member_that_is_empty_stops_serving() -> None:
    late = (look(1200, stateful=Check.YES), look(1500, stateful=Check.NO))

    state, commands = ran(LEAVING, *late)

    assert (state.is_target, state.is_ready) == (False, False)
    assert commands == (
        PublishLabels(is_target=False, is_ready=False),
        ReadyChanged(is_ready=False),
        Drained(12),
    )
    assert state.overdue_ms(1_600_000) == 0


def test_l_6_without_a_check_nothing_protects_and_that_is_told_once() -> None:
    """Covers R-23 in part."""
    rounds = (look(1120), known(TO_TWELVE), look(1320), look(1320), known(TO_TEN), look(1330))

    _, commands = ran(LEAVING, *rounds, look(1330))

    assert commands[0] == WarnUnprotected()
    assert commands.count(WarnUnprotected()) == 1
    assert commands.count(ReadyChanged(is_ready=False)) == 2


def test_l_7_a_new_round_takes_a_leaving_member_back() -> None:
    state, _ = ran(LEAVING, look(1200, stateful=Check.YES), known(TO_TWELVE))

    assert shown(state, look(1259, stateful=Check.YES)) == "0/1"
    assert shown(state, look(1260, stateful=Check.YES)) == "1/1"


def test_l_8_a_new_round_takes_a_member_in() -> None:
    start = (known(TO_TWELVE), look(1260, ready=Check.YES))

    assert shown(GONE, known(TO_TWELVE), look(1259)) == "0/0"
    assert shown(GONE, *start) == "1/0"
    assert shown(GONE, *start, look(1319, ready=Check.YES)) == "1/0"
    assert shown(GONE, *start, look(1320, ready=Check.NO)) == "1/0"
    assert shown(GONE, *start, look(1320, ready=Check.YES)) == "1/1"


def test_a_member_with_a_check_may_serve_before_the_end_where_that_is_chosen() -> None:
    early = replace(RULES, is_ready_early=True)
    start = (known(TO_TWELVE), look(1260, ready=Check.YES))

    assert shown(GONE, *start, look(1261, ready=Check.YES), rules=early) == "1/1"


def test_a_member_without_a_check_waits_its_minute_although_the_round_is_over() -> None:
    late = Labels(plan=replace(PLAN, booted_ms=2_000_000, status=TO_TWELVE))

    assert shown(late, look(2000), look(2059)) == "1/0"
    assert shown(late, look(2000), look(2060)) == "1/1"


def test_l_9_a_member_with_a_place_stays() -> None:
    staying = replace(SERVING, plan=replace(PLAN, index=10))

    assert shown(staying, look(1060), look(1120), look(1180)) == "1/1"


def test_l_10_no_event_carries_the_readiness_of_kubernetes() -> None:
    """Covers R-19 in part."""
    fields = {name for each in Event.__args__ for name in each.__struct_fields__}

    assert fields == {
        "at_ms", "cause", "index", "is_ahead", "now_ms", "ready", "ready_offset_ms", "stateful",
        "status", "target_offset_ms",
    }  # fmt: skip


def test_l_11_before_a_stop_a_member_drains() -> None:
    staying = replace(SERVING, plan=replace(PLAN, index=10))
    stop = StopAsked(now_ms=2_000_000, cause="preStop", is_ahead=True)
    full, empty = Check.YES, Check.NO

    assert shown(staying, stop, look(2059, stateful=full)) == "1/1"
    assert shown(staying, stop, look(2060, stateful=full)) == "0/1"
    assert shown(staying, stop, look(2060), look(2119, stateful=empty)) == "0/1"
    assert shown(staying, stop, look(2060), look(2120, stateful=full)) == "0/1"
    assert shown(staying, stop, look(2060), look(2121, stateful=empty)) == "0/0"


def test_a_stop_that_is_not_announced_is_at_once() -> None:
    stop = StopAsked(now_ms=500_000, cause="SIGTERM")

    assert shown(SERVING, stop, look(500), look(500, stateful=Check.NO)) == "0/0"


def test_l_12_a_member_whose_module_is_off_serves_after_a_second() -> None:
    """Covers R-5."""
    off = replace(RULES, is_enabled=False)

    assert shown(BOOTING, look(0), rules=off) == "0/0"
    assert shown(BOOTING, look(1), look(1, ms=100), rules=off) == "1/1"


def test_l_13_a_planned_shutdown_ends_serving_too() -> None:
    planned = ShutdownPlanned(at_ms=530_000, cause="operator")
    empty = Check.NO

    assert shown(SERVING, planned, look(529)) == "1/1"
    assert shown(SERVING, planned, look(530)) == "0/1"
    assert shown(SERVING, planned, look(530), look(589, stateful=empty)) == "0/1"
    assert shown(SERVING, planned, look(530), look(590, stateful=empty)) == "0/0"


def test_l_14_without_the_store_nothing_changes() -> None:
    """Covers R-46 in part."""
    lost = StatusLost(cause="store")

    assert shown(SERVING, lost, look(1060), look(1700)) == "1/1"
    assert shown(LEAVING, lost, look(1700)) == "0/1"
    assert shown(GONE, known(TO_TWELVE), lost, look(1400)) == "0/0"


def test_without_the_store_a_member_can_stop() -> None:
    stop = StopAsked(now_ms=500_000, cause="SIGTERM")
    lost = StatusLost(cause="store")

    assert shown(SERVING, lost, stop, look(500), look(500, stateful=Check.NO)) == "0/0"


def test_l_15_a_check_that_fails_protects() -> None:
    assert shown(LEAVING, look(1500, stateful=Check.UNKNOWN)) == "0/1"


def test_l_16_where_labels_are_not_led_everybody_has_a_place() -> None:
    free = replace(RULES, is_led=False)
    one = replace(TO_TEN, expect=1)

    assert shown(SERVING, known(one), look(1500), rules=free) == "1/1"
    assert shown(BOOTING, known(one), look(1060), look(1120), rules=free) == "1/1"


def test_where_all_are_to_drain_every_member_leaves_and_keeps_its_state() -> None:
    draining = replace(RULES, do_all_drain=True)
    first = Labels(
        plan=replace(PLAN, index=1, status=TO_TWELVE), is_target=True, is_ready=True, protected=1
    )
    holding, empty = look(1320, stateful=Check.YES), look(1330, stateful=Check.NO)

    assert shown(first, look(1260), rules=draining) == "0/1"
    assert shown(first, look(1260), holding, rules=draining) == "0/1"
    assert shown(first, look(1260), holding, empty, rules=draining) == "0/0"
    assert shown(BOOTING, known(TO_TWELVE), look(1260), empty, rules=draining) == "0/0"


def test_l_17_a_rank_behind_the_last_leaves() -> None:
    four = replace(TO_TEN, expect=4)
    fifth = Labels(plan=replace(PLAN, index=5, status=four), is_target=True, is_ready=True)
    older = replace(RULES, slack=1)

    assert shown(fifth, look(1060)) == "0/1"
    assert shown(fifth, look(1060), rules=older) == "1/1"


def test_l_18_of_two_stops_the_earlier_times_hold() -> None:
    first = StopAsked(now_ms=100_000, cause="preStop", is_ahead=True)
    second = StopAsked(
        now_ms=101_000, cause="operator", target_offset_ms=4_000, ready_offset_ms=5_000
    )

    for stops in ((first, second), (second, first)):
        state, _ = ran(SERVING, *stops)

        assert state.plan.stop_target_ms == 105_000
        assert state.plan.stop_ready_ms == 110_000


def test_l_19_a_clock_that_is_ahead_does_not_lose_state() -> None:
    assert shown(SERVING, look(1040 + 20)) == "0/1"
    assert shown(LEAVING, look(1100 + 20, stateful=Check.YES)) == "0/1"


def test_a_member_without_a_place_among_the_members_never_serves() -> None:
    nowhere = IndexKnown(index=None, cause="members")

    assert shown(BOOTING, nowhere, look(1), look(60)) == "0/0"


def test_serving_is_written_down_before_it_is_shown() -> None:
    """Covers R-58 in part."""
    state, _ = ran(BOOTING, look(1))

    state, commands = ran(state, look(60))

    assert commands == (
        Protect(12),
        PublishLabels(is_target=True, is_ready=True),
        ReadyChanged(is_ready=True),
    )
    assert state.stateful_index == 12


def test_a_member_with_a_new_number_is_written_down_by_it_before_the_old_one_goes() -> None:
    moved = IndexKnown(index=9, cause="members")
    same = IndexKnown(index=12, cause="members")

    state, commands = ran(SERVING, moved)

    assert commands == (Protect(9), Drained(12))
    assert state.stateful_index == 9
    assert ran(SERVING, same)[1] == ()
    assert ran(GONE, moved)[1] == ()


def test_a_member_that_lost_its_place_stays_written_down() -> None:
    nowhere = IndexKnown(index=None, cause="members")

    state, commands = ran(SERVING, nowhere)

    assert commands == ()
    assert state.stateful_index == 12
    assert ran(state, look(1060), look(1120, stateful=Check.NO))[1][-1] == Drained(12)


def test_the_floor_goes_only_with_ready() -> None:
    """Covers R-31 in part, R-34."""
    assert [LEAVING.stateful_index, GONE.stateful_index] == [12, 0]
