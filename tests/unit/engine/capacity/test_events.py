"""Texts of events about pods."""

from springtide.engine.capacity.decision import Growth
from springtide.engine.capacity.events import not_triggered, triggered
from springtide.model.refusal import Refusal


def refusal(*reasons: str) -> Refusal:
    return Refusal(rule="rule", reasons=reasons)


def test_a_pod_that_is_helped_is_told_which_groups_grow() -> None:
    growths = [
        (Growth(name="a", size_before=5, size_after=9), 15),
        (Growth(name="c", size_before=0, size_after=1), 9),
    ]

    text = triggered(growths)

    assert text == "pod triggered scale-up: [{a 5->9 (max: 15)} {c 0->1 (max: 9)}]"


def test_a_pod_that_is_not_helped_is_told_how_many_groups_have_which_reason() -> None:
    text = not_triggered(
        [
            refusal("Insufficient memory", "Insufficient cpu"),
            refusal("in backoff after failed scale-up"),
            refusal("Insufficient memory"),
        ]
    )

    assert text == (
        "pod didn't trigger scale-up: 2 Insufficient memory, 1 Insufficient cpu, "
        "1 in backoff after failed scale-up"
    )


def test_groups_without_a_reason_leave_the_text_empty() -> None:
    assert not_triggered([refusal()]) == "pod didn't trigger scale-up: "


def test_groups_are_counted_and_not_their_devices() -> None:
    text = not_triggered(
        [refusal("8/8 CardInsufficientMemory"), refusal("2/4 CardInsufficientMemory")]
    )

    assert text == "pod didn't trigger scale-up: 2 CardInsufficientMemory"
