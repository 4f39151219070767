"""Which change is the smaller one."""

from springtide.engine.explain.changes import Change, ChangeKind, smallest_first


def change(kind: ChangeKind, size: float = 1.0) -> Change:
    """Return a change of a kind and size."""
    return Change(kind=kind, text="do it", subject="it", node="n", size=size)


def test_a_change_of_place_comes_before_less_before_other_pods_before_nodes() -> None:
    kinds = [
        ChangeKind.ADD_NODE,
        ChangeKind.FREE_PODS,
        ChangeKind.ASK_LESS,
        ChangeKind.ADD_TOLERATION,
    ]

    ordered = smallest_first([change(kind, 0.4) for kind in kinds])

    assert [each.kind for each in ordered] == kinds[::-1]


def test_giving_up_more_than_half_comes_last() -> None:
    changes = [change(ChangeKind.ASK_LESS, 0.51), change(ChangeKind.ADD_NODE)]

    ordered = smallest_first(changes)

    assert [each.kind for each in ordered] == [ChangeKind.ADD_NODE, ChangeKind.ASK_LESS]


def test_of_one_kind_the_smaller_part_comes_first_and_equals_keep_their_order() -> None:
    half, tenth, other = (change(ChangeKind.ASK_LESS, size) for size in (0.5, 0.1, 0.1))

    ordered = smallest_first([half, tenth, other])

    assert ordered == (tenth, other, half)
    assert ordered[0] is tenth
