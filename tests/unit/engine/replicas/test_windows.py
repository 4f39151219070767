"""Windows by their times: evaluated every 20 s, 60 s each way, what was expected recorded at 0."""

import pytest

from springtide.engine.replicas.combination import Suggestion
from springtide.engine.replicas.evaluation import Standing, evaluate
from springtide.engine.replicas.windows import RECORDS_MAX, Asked, Windows, calm, primed
from springtide.model.replicas.rules import Limits

MINUTE = Windows(up_ms=60_000, down_ms=60_000)
NO_LIMITS = Limits(replicas_min=2, replicas_max=100)
STEPS_OF_TWO = Limits(step_down_max=2, replicas_min=2)
EVERY_MS = 20_000
CALM = Suggestion()


def grow(replicas: int) -> Suggestion:
    """Return a suggestion to grow."""
    return Suggestion(replicas, None)


def shrink(replicas: int) -> Suggestion:
    """Return a suggestion to shrink."""
    return Suggestion(None, replicas)


def walked(
    expect: int, suggestions: list[Suggestion], windows: Windows, limits: Limits
) -> list[int]:
    """Return what is expected after each evaluation, of which the first is at 20 s."""
    windows = primed(windows, now_ms=0, expect=expect)
    answers = []
    for turn, suggestion in enumerate(suggestions, start=1):
        standing = Standing(expect=expect, current=expect)
        found = evaluate(
            suggestion, standing, limits=limits, windows=windows, now_ms=turn * EVERY_MS
        )
        expect, windows = found.replicas, found.windows
        answers.append(expect)
    return answers


ROWS = {
    "C-1": (4, [CALM, grow(9), CALM, CALM], [4, 4, 4, 4]),
    "C-2": (4, [grow(9), grow(8), grow(10), grow(10), grow(10)], [4, 4, 8, 8, 10]),
    "C-4": (10, [shrink(4)] * 4, [10, 10, 4, 4]),
    "C-5": (10, [shrink(4), CALM, *[shrink(4)] * 3], [10, 10, 10, 10, 4]),
    "C-10": (10, [shrink(4), *[shrink(10)] * 4], [10] * 5),
    "C-11": (10, [shrink(4), shrink(4), shrink(4)], [10, 10, 4]),
}


@pytest.mark.parametrize(("expect", "asked", "answers"), ROWS.values(), ids=ROWS)
def test_what_passes_within_a_window_changes_nothing(
    expect: int, asked: list[Suggestion], answers: list[int]
) -> None:
    assert walked(expect, asked, MINUTE, NO_LIMITS) == answers


def test_c_3_old_demand_to_shrink_less_raises_nothing() -> None:
    windows = Windows(up_ms=60_000, down_ms=60_000, asked=(Asked(20_000, 20), Asked(40_000, 21)))

    assert calm(windows, 15, now_ms=60_000, expect=17).replicas == 17


@pytest.mark.parametrize(("age_s", "replicas"), [(500, 17), (610, 16)])
def test_fc_071_old_demand_is_no_reason_to_grow(age_s: int, replicas: int) -> None:
    now_ms = 1_000_000
    asked = (Asked(now_ms - age_s * 1000, 21), Asked(now_ms - 200_000, 16))
    windows = Windows(up_ms=300_000, down_ms=600_000, asked=asked)

    assert calm(windows, 14, now_ms=now_ms, expect=17).replicas == replicas


def test_c_6_an_unknown_within_the_window_blocks_shrinking_through_a_whole_one() -> None:
    unknown = Suggestion(None, None)

    answers = walked(10, [shrink(4), unknown, *[shrink(4)] * 3], MINUTE, NO_LIMITS)

    assert answers == [10, 10, 10, 10, 4]


def test_c_9_a_step_each_time() -> None:
    assert walked(10, [shrink(2)] * 4, Windows(), STEPS_OF_TWO) == [8, 6, 4, 2]


def test_c_12_without_a_window_it_grows_at_once() -> None:
    assert walked(4, [grow(9)], Windows(), NO_LIMITS) == [9]


def test_records_are_bounded_and_keep_blocking() -> None:
    windows = Windows(down_ms=10**9, asked=(Asked(0, 9),))

    for now_ms in range(1, RECORDS_MAX + 10):
        windows = calm(windows, 3, now_ms=now_ms, expect=9).windows

    assert len(windows.asked) == RECORDS_MAX
    assert calm(windows, 3, now_ms=RECORDS_MAX + 10, expect=9).replicas == 9
