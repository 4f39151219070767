"""What is remembered belongs to one owner, and is bounded."""

from springtide.engine.framework.recent import RECENT_MAX, Recent


def test_equal_keys_share_what_was_made_for_one_owner() -> None:
    recent: Recent[int, list[int]] = Recent()
    owner = object()

    first = recent.get(owner, 1, lambda: [1])

    assert recent.get(owner, 1, lambda: [2]) is first
    assert recent.get(object(), 1, lambda: [3]) == [3]


def test_what_is_remembered_is_bounded() -> None:
    recent: Recent[int, list[int]] = Recent()
    owner = object()
    first = recent.get(owner, 0, lambda: [0])

    for key in range(1, RECENT_MAX):
        recent.get(owner, key, lambda: [1])
    kept = recent.get(owner, 0, lambda: [2])

    assert kept is not first
