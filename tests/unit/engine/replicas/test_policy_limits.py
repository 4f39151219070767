"""One policy's own step and windows: ten are expected and run, evaluations are 20 s apart."""

from decimal import Decimal

import pytest

from springtide.engine.replicas.combination import Reading, Suggestion
from springtide.engine.replicas.policy_limits import Limited, Moment, PolicyWindows, limited
from springtide.model.replicas.policy import Policy

STEPS = Policy(name="rooms", step_up_max=4, step_down_max=2)
UP_MINUTE = Policy(name="rooms", window_up_ms=60_000)
DOWN_MINUTE = Policy(name="rooms", window_down_ms=60_000)
FREE = Policy(name="cpu")


def reading(name: str, replicas: int | None, *, is_required: bool = True) -> Reading:
    """Return a metric of which one replica carries one."""
    total = None if replicas is None else Decimal(replicas)
    return Reading(
        policy=name,
        up_total=total,
        down_total=total,
        up_per_replica=1,
        down_per_replica=1,
        is_required=is_required,
    )


def walked(policy: Policy, wishes: list[int | None]) -> list[Limited]:
    """Return what may be asked for after each evaluation, of which the first is at 20 s."""
    windows, found = PolicyWindows(), []
    for turn, wish in enumerate(wishes, start=1):
        moment = Moment(expect=10, current=10, steady_ms=turn * 20_000)
        answer = limited([policy], [reading("rooms", wish)], windows=windows, moment=moment)
        windows = answer.windows
        found.append(answer)
    return found


@pytest.mark.parametrize(
    ("wish", "suggestion"),
    [
        (20, Suggestion(14, 20)),
        (13, Suggestion(13, 13)),
        (9, Suggestion(9, 9)),
        (3, Suggestion(3, 8)),
    ],
)
def test_a_policy_asks_for_one_step_and_keeps_what_it_needs(
    wish: int, suggestion: Suggestion
) -> None:
    """Covers R-14."""
    (found,) = walked(STEPS, [wish])

    assert found.suggestion == suggestion


def test_a_step_begins_where_replicas_run_and_never_turns_around() -> None:
    running = Moment(expect=10, current=4, steady_ms=0)

    found = limited([STEPS], [reading("rooms", 20)], windows=PolicyWindows(), moment=running)

    assert found.suggestion.up == 10


def test_growth_is_asked_for_through_the_window_of_its_policy() -> None:
    """Covers R-14."""
    found = walked(UP_MINUTE, [16, 14, 15, 15, 15])

    assert [each.suggestion.up for each in found] == [10, 10, 10, 14, 15]


def test_shrinking_is_asked_for_through_the_window_of_its_policy() -> None:
    """Covers R-14."""
    found = walked(DOWN_MINUTE, [4, 4, 6, 4, 4, 4])

    assert [each.suggestion.down for each in found] == [10, 10, 10, 6, 6, 4]


def test_an_unknown_asks_for_nothing_and_blocks_a_whole_window() -> None:
    found = walked(DOWN_MINUTE, [4, None, 4, 4, 4])

    assert [each.suggestion.down for each in found] == [10, None, 10, 10, 4]


def test_what_is_held_back_is_told_with_its_policy() -> None:
    found = walked(STEPS, [20])

    assert found[0].words == ("rooms asks for 20, and by its own limits for 14 now.",)


def test_another_policy_is_not_held_back() -> None:
    moment = Moment(expect=10, current=10, steady_ms=0)
    metrics = [reading("rooms", 30), reading("cpu", 20)]

    found = limited([STEPS, FREE], metrics, windows=PolicyWindows(), moment=moment)

    assert found.suggestion.up == 20
    assert set(found.windows.ups) == {"rooms"}


def test_a_required_metric_that_is_unknown_still_holds_everybody() -> None:
    moment = Moment(expect=10, current=10, steady_ms=0)
    metrics = [reading("rooms", 3), reading("cpu", None)]

    found = limited([STEPS, FREE], metrics, windows=PolicyWindows(), moment=moment)

    assert found.suggestion == Suggestion(3, None)


def test_the_zero_of_older_fleets_is_no_wish() -> None:
    moment = Moment(expect=10, current=10, steady_ms=0)
    none_needed = Reading(policy="rooms", down_total=Decimal(0), down_per_replica=1)

    found = limited(
        [DOWN_MINUTE], [none_needed], windows=PolicyWindows(), moment=moment, is_truncated=True
    )

    assert found.suggestion == Suggestion(None, None)
