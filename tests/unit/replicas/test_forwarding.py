"""Where a request belongs, among four members."""

import pytest
from msgspec.structs import replace

from springtide.model.replicas.member import Member
from springtide.replicas.forwarding import (
    HOPS_MAX,
    Forward,
    Forwarding,
    Serve,
    Unavailable,
    hops_of,
    numbered,
)
from springtide.replicas.ownership import owner_of

MEMBERS = tuple(
    Member(id=0, name=f"chat-{index - 1}", index=index, address=f"10.0.0.{index}")
    for index in range(1, 5)
)
OWNER = MEMBERS[owner_of("lobby", 4) - 1]
OTHER = next(each for each in MEMBERS if each is not OWNER)


def test_what_is_here_is_served_however_often_it_was_forwarded() -> None:
    found = Forwarding(name="chat-0").decide(
        "lobby", holds=True, hops=HOPS_MAX, count=4, members=MEMBERS
    )

    assert found == Serve()


def test_what_is_elsewhere_goes_to_its_owner_with_one_hop_more() -> None:
    found = Forwarding(name=OTHER.name).decide(
        "lobby", holds=False, hops=1, count=4, members=MEMBERS
    )

    assert found == Forward(OWNER, 2)


def test_what_was_given_away_goes_where_it_went() -> None:
    found = Forwarding(name=OWNER.name).decide(
        "lobby", holds=False, hops=0, count=4, members=MEMBERS, given_to=OTHER.name
    )

    assert found == Forward(OTHER, 1)


def test_nobody_forwards_in_a_circle() -> None:
    """Covers R-27 in part."""
    found = Forwarding(name=OTHER.name).decide(
        "lobby", holds=False, hops=HOPS_MAX, count=4, members=MEMBERS
    )

    assert found == Unavailable(1, "lobby moves while it is looked for: 3 members passed on.")


def test_an_owner_that_waits_for_its_object_asks_for_patience() -> None:
    found = Forwarding(name=OWNER.name).decide(
        "lobby", holds=False, hops=0, count=4, members=MEMBERS
    )

    assert found == Unavailable(1, "lobby belongs here and has not come yet.")


def test_an_owner_that_is_not_there_and_a_number_that_nobody_knows_ask_for_patience() -> None:
    alone = Forwarding(name=OTHER.name)

    absent = alone.decide("lobby", holds=False, hops=0, count=4, members=(OTHER,))
    unknown = alone.decide("lobby", holds=False, hops=0, count=0, members=MEMBERS)

    assert absent == Unavailable(1, "The owner of lobby is not there.")
    assert unknown == Unavailable(1, "Nobody knows yet how many members are wanted.")


def test_members_without_numbers_are_numbered_in_the_order_of_all() -> None:
    named = [replace(each, index=None) for each in reversed(MEMBERS)]

    assert {index: each.name for index, each in numbered(named).items()} == {
        1: "chat-0",
        2: "chat-1",
        3: "chat-2",
        4: "chat-3",
    }


@pytest.mark.parametrize(
    ("header", "hops"), [(None, 0), ("", 0), ("0", 0), ("2", 2), ("-1", 3), ("x", 3), ("9" * 40, 3)]
)
def test_a_header_that_makes_no_sense_ends_the_journey(header: str | None, hops: int) -> None:
    assert hops_of(header) == hops
