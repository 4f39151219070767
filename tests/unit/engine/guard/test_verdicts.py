"""What is said to whoever wants fewer replicas."""

import pytest

from springtide.engine.guard import Change, GuardReason, Unknown, verdict

UNKNOWN = Unknown(reason=GuardReason.FLOOR_UNKNOWN, why="Nobody has spoken.")


def change(before: int, after: int, *, autoscaler: str = "") -> Change:
    """Return a change of a workload."""
    return Change(
        kind="StatefulSet",
        namespace="game",
        name="chat",
        before=before,
        after=after,
        autoscaler=autoscaler,
    )


@pytest.mark.parametrize(
    ("before", "after", "floor"),
    [
        (12, 12, 12),
        (12, 14, 12),
        (12, 13, UNKNOWN),
        (12, 12, UNKNOWN),
        (4, 6, 9),
        (12, 10, 10),
        (12, 0, 0),
    ],
)
def test_what_takes_nothing_with_state_away_may_be(
    before: int, after: int, floor: int | Unknown
) -> None:
    assert verdict(change(before, after), floor) is None


def test_the_refusal_says_what_to_wait_for_and_what_else_helps() -> None:
    found = verdict(change(12, 8), 11)

    assert found is not None
    assert found.reason is GuardReason.HOLDS_STATE
    assert found.message == (
        "StatefulSet game/chat cannot be scaled to 8: replica 11 still holds state, and fewer replicas would "
        "delete it. Wait until 9 to 11 are drained; if nothing of what they held is left to save, release "
        "their protection with `springtide replicas release-protection 11`, or let a user change it who is exempt in the "
        "configuration of the guard."
    )


def test_h_12_a_maximum_below_what_holds_state_is_refused() -> None:
    """Covers R-57 in part."""
    found = verdict(change(40, 11, autoscaler="chat-scaler"), 12)

    assert found is not None
    assert found.message.startswith(
        "HorizontalPodAutoscaler game/chat-scaler cannot have a maximum of 11 for StatefulSet game/chat: "
        "replica 12 still holds state, and an autoscaler removes at once what is above its maximum. "
        "Wait until it is drained;"
    )


def test_doubt_never_lowers_and_says_what_is_in_doubt() -> None:
    found = verdict(change(12, 11), UNKNOWN)

    assert found is not None
    assert found.reason is GuardReason.FLOOR_UNKNOWN
    assert found.message == (
        "StatefulSet game/chat cannot be scaled to 11: it is not known which of its replicas hold state. "
        "Nobody has spoken. Try again when that is known, or let a user change it who is exempt in the "
        "configuration of the guard."
    )
