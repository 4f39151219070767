"""How older fleets calm: evaluated every 20 s, windows of 60 s."""

from springtide.engine.replicas.combination import Suggestion
from springtide.engine.replicas.evaluation import Standing
from springtide.engine.replicas.growing_evaluation import GrowingPair, evaluate_growing
from springtide.engine.replicas.growing_windows import Growing
from springtide.model.replicas.rules import Limits

LIMITS = Limits(replicas_min=2, replicas_max=20, allows_zero=True)
MINUTE = GrowingPair(up=Growing(window_ms=60_000), down=Growing(window_ms=60_000))
AT_ONCE = GrowingPair()


def walked(expect: int, suggestions: list[Suggestion], windows: GrowingPair) -> list[int]:
    """Return what is expected after each evaluation, of which the first is at 20 s."""
    answers = []
    for turn, suggestion in enumerate(suggestions, start=1):
        standing = Standing(expect=expect, current=expect)
        found = evaluate_growing(
            suggestion, standing, limits=LIMITS, windows=windows, now_ms=turn * 20_000, calm_ms=0
        )
        expect, windows = found.replicas, found.windows
        answers.append(expect)
    return answers


def test_c_10_one_dip_shrinks_although_demand_came_back() -> None:
    asked = [Suggestion(None, 4), *[Suggestion(None, 10)] * 3]

    assert walked(10, asked, MINUTE) == [10, 10, 10, 4]


def test_the_extreme_of_a_window_is_what_happens() -> None:
    asked = [Suggestion(up, None) for up in (9, 12, 8, 8)]

    assert walked(4, asked, MINUTE) == [4, 4, 4, 12]


def test_p_12_shrinking_comes_last() -> None:
    assert walked(5, [Suggestion(10, 3)], AT_ONCE) == [3]


def test_a_window_begins_when_the_running_round_is_over() -> None:
    standing = Standing(expect=4, current=4)

    found = evaluate_growing(
        Suggestion(9, None), standing, limits=LIMITS, windows=MINUTE, now_ms=20_000, calm_ms=90_000
    )

    assert found.windows.up.ends_ms == 150_000


def test_a_window_that_has_ended_is_shut() -> None:
    ended = GrowingPair(down=Growing(window_ms=60_000, ends_ms=80_000, pending=4, reached=4))
    standing = Standing(expect=4, current=4)

    found = evaluate_growing(
        Suggestion(None, 4), standing, limits=LIMITS, windows=ended, now_ms=100_000, calm_ms=0
    )

    assert found.windows.down.ends_ms == 0
    assert found.replicas == 4
