"""Numbers of members, and who leads where no lease says it."""

import pytest

from springtide.engine.replicas.members import expected, first_leader, living, rank
from springtide.model.replicas.member import Member
from springtide.model.replicas.ordinals import pod_index

THREE = (Member(id=7, name="b"), Member(id=3, name="c"), Member(id=7, name="a"))

PODS = {
    "A-13": ("chat-4", 0, "", 5),
    "A-15": ("chat-7", 5, "", 3),
    "A-16": ("chat", 0, "", None),
    "a label goes first": ("chat-4", 0, "2", 3),
    "before the start": ("chat-4", 5, "", None),
    "a label of words": ("chat-4", 0, "two", None),
    "an overlong ordinal": ("chat-12345678901", 0, "", None),
}


@pytest.mark.parametrize(("name", "start", "label", "index"), PODS.values(), ids=PODS)
def test_a_pod_has_the_number(name: str, start: int, label: str, index: int | None) -> None:
    """Covers R-32 in part."""
    assert pod_index(name, ordinals_start=start, pod_index_label=label) == index


def test_a_14_elsewhere_the_place_in_the_order_counts() -> None:
    """Covers R-33."""
    assert rank(THREE, 7, "b") == 3
    assert rank(THREE, 7, "c") is None


def test_n_5_the_first_with_an_ordinal_leads_and_else_the_last() -> None:
    with_ordinals = (Member(id=9, name="x", has_ordinal=True), *THREE)

    assert first_leader(with_ordinals) == with_ordinals[0]
    assert first_leader(THREE) == THREE[0]


def test_n_4_a_member_that_stops_does_not_lead() -> None:
    assert first_leader([Member(id=1, name="a", is_stopping=True)]) is None


def test_members_that_just_started_are_not_yet_expected() -> None:
    members = [Member(id=1, name="a"), Member(id=2, name="b", started_ms=50_000)]

    assert expected(members, now_ms=61_000) == 1


def test_f_14_a_killed_run_is_over_though_its_pod_is_there_and_one_that_is_deleted_hands_over() -> (
    None
):
    """Covers R-49 in part."""
    serving = Member(id=0, name="chat-0", boot="a")
    killed = Member(id=1, name="chat-1", boot="b", is_alive=False)
    deleted = Member(id=2, name="chat-2", boot="c", is_alive=False, is_stopping=True)

    assert living((serving, killed, deleted)) == {"a", "c"}
