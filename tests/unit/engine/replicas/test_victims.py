"""Which pods of a Deployment go first: four live, and two are expected."""

import pytest
from msgspec.structs import replace

from springtide.engine.replicas.victims import (
    Coordination,
    Event,
    Pod,
    PodsSeen,
    SetCost,
    Thawed,
    WrongVictim,
    are_drained,
    stateful_count,
    step,
    victims,
)

SERVING = [
    Pod(name=f"chat-{name}", index=index, is_target=True, is_ready=True, cost=1000)
    for index, name in enumerate("abcd", start=1)
]
A, B, C, D = SERVING
DRAINED_C = replace(C, is_target=False, is_ready=False, cost=-1000)
DRAINED_D = replace(D, is_target=False, is_ready=False, cost=-1000)


def seen(*pods: Pod, at_s: int = 0, expect: int = 2, replicas: int | None = 4) -> PodsSeen:
    """Return which pods live at this second."""
    return PodsSeen(
        pods=pods, expect=expect, steady_ms=at_s * 1000, cause="look", replicas=replicas
    )


def after(*events: Event) -> tuple[Coordination, list[SetCost | WrongVictim]]:
    """Return the coordination after events, and all that it wanted done."""
    state, done = Coordination(), list[SetCost | WrongVictim]()
    for event in events:
        state, commands = step(state, event)
        done += commands
    return state, done


def test_the_floor_is_how_many_serve() -> None:
    """Covers R-38 in part."""
    assert stateful_count([A, B, replace(C, is_target=False), DRAINED_D]) == 3


def test_those_without_a_place_go_from_the_last_on() -> None:
    assert victims(SERVING, 2) == (D, C)


@pytest.mark.parametrize(
    ("pods", "is_drained"),
    [
        ([A, B, C, D], False),
        ([A, B, C, DRAINED_D], False),
        ([A, B, DRAINED_C, DRAINED_D], True),
        ([A, B], True),
        ([A, B, DRAINED_C, replace(DRAINED_D, cost=0)], True),
        ([replace(A, cost=0), B, DRAINED_C, replace(DRAINED_D, cost=0)], False),
        ([replace(A, is_pod_ready=False), B, DRAINED_C, DRAINED_D], False),
        ([A, B, DRAINED_C, replace(DRAINED_D, is_pod_ready=False, cost=1000)], True),
        ([A, B, DRAINED_C, replace(DRAINED_D, is_target=True)], False),
    ],
)
def test_replicas_go_down_once_only_drained_members_would_be_picked(
    pods: list[Pod], *, is_drained: bool
) -> None:
    """Covers R-38 in part."""
    assert are_drained(pods, 2) is is_drained
    assert after(seen(*pods))[0].are_drained is is_drained


def test_drained_members_are_cheap_and_serving_ones_dear() -> None:
    """Covers R-38 in part."""
    fresh = [replace(each, cost=0) for each in (A, B, C, DRAINED_D)]
    starting = Pod(name="chat-e", index=2)

    _, costs = after(seen(*fresh, starting))

    assert costs == [
        SetCost("chat-a", 1000),
        SetCost("chat-b", 1000),
        SetCost("chat-c", 1000),
        SetCost("chat-d", -1000),
    ]


def test_a_cost_is_written_on_a_change_and_once_a_minute() -> None:
    bare = replace(A, cost=0)
    back = replace(A, index=3, is_target=False, is_ready=False)

    assert after(seen(bare), seen(A, at_s=10))[1] == [SetCost("chat-a", 1000)]
    assert after(seen(bare), seen(back, at_s=59))[1] == [SetCost("chat-a", 1000)]
    assert after(seen(bare), seen(back, at_s=60))[1] == [
        SetCost("chat-a", 1000),
        SetCost("chat-a", -1000),
    ]


def test_drained_members_that_went_are_no_wrong_victims() -> None:
    state, done = after(seen(A, B, DRAINED_C, DRAINED_D), seen(A, B, at_s=10, replicas=2))

    assert done == []
    assert state.holds == ()
    assert state.leaving == 0


def test_a_wrong_victim_is_told_and_nothing_shrinks_until_somebody_knows_why() -> None:
    """Covers R-38 in part."""
    events = (seen(A, B, DRAINED_C, DRAINED_D), seen(A, DRAINED_C, at_s=10, replicas=2))

    state, done = after(*events)

    words = "chat-b served, and its controller took it away; nothing shrinks from now on."
    assert done == [WrongVictim("chat-b", words)]
    assert not state.are_drained
    assert state.holds == (
        "chat-b was taken away while it served: see why, and let the workload shrink again.",
    )
    assert after(*events, Thawed(cause="operator"))[0].holds == ()


def test_a_pod_that_goes_by_itself_is_no_victim() -> None:
    """A node that fails, or a new version, takes pods away and sets no other number."""
    fewer = seen(A, B, C, at_s=10)
    unread = seen(A, B, C, at_s=10, replicas=None)

    assert after(seen(*SERVING), fewer)[1] == []
    assert after(seen(*SERVING), unread)[1] == []


def test_pods_that_go_late_are_still_verified() -> None:
    early, late = seen(*SERVING, at_s=10, replicas=3), seen(A, C, D, at_s=20, replicas=3)

    _, done = after(seen(*SERVING), early, late)

    assert [each for each in done if isinstance(each, WrongVictim)] != []


def test_growth_takes_back_what_was_to_go() -> None:
    state, _ = after(
        seen(*SERVING), seen(*SERVING, at_s=10, replicas=2), seen(*SERVING, at_s=20, replicas=4)
    )

    assert state.leaving == 0


def test_whoever_follows_marks_nobody_and_knows_of_a_wrong_victim_when_it_leads() -> None:
    """Covers R-38 in part."""

    def followed(*pods: Pod, at_s: int, replicas: int, expect: int = 4) -> PodsSeen:
        found = seen(*pods, at_s=at_s, expect=expect, replicas=replicas)
        return replace(found, is_leader=False)

    # The leader itself was taken.
    state, done = after(
        followed(replace(A, cost=0), B, C, D, at_s=0, replicas=4),
        followed(B, C, D, at_s=5, replicas=3),
    )
    thawed, _ = step(state, followed(B, C, D, at_s=10, replicas=3, expect=3))

    assert [each for each in done if isinstance(each, SetCost)] == []
    assert state.wrong == ("chat-a",)
    assert state.holds
    assert state.patched_ms == {}
    assert not thawed.holds
