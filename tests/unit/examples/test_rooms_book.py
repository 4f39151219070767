"""What a member of the example service holds, line by line."""

from pathlib import Path

import pytest

from examples.rooms.book import (
    Book,
    Changed,
    Created,
    Dropped,
    Expecting,
    Given,
    Giving,
    Kept,
    Line,
    Refused,
    Taken,
)
from examples.rooms.journal import FileJournal, InUse
from examples.rooms.room import Room

LOBBY = Room(id="rooms-0.0.1", people=3)
MOVED = Room(id="rooms-0.0.1", version=2, people=3)


def book(*lines: Line) -> Book:
    """Return a book with these lines."""
    found = Book()
    for line in lines:
        found.apply(line)
    return found


def test_a_room_on_its_way_is_held_and_takes_no_changes() -> None:
    giver = book(Created(LOBBY), Giving(LOBBY.id, 2, "rooms-1"))

    assert giver.owned == 1
    assert not giver.accepts_writes(LOBBY.id)


def test_a_room_that_came_is_where_it_came_and_nowhere_else() -> None:
    giver = book(Created(LOBBY), Giving(LOBBY.id, 2, "rooms-1"), Given(LOBBY.id))
    taker = book(Expecting(LOBBY.id, "rooms-0"), Taken(MOVED))

    assert giver.owned == 0
    assert giver.gone == {LOBBY.id: "rooms-1"}
    assert taker.accepts_writes(LOBBY.id)
    assert taker.owned == 1


def test_a_promise_is_state() -> None:
    assert book(Expecting(LOBBY.id, "rooms-0")).owned == 1
    assert book(Expecting(LOBBY.id, "rooms-0"), Dropped(LOBBY.id)).owned == 0


def test_only_what_was_promised_is_taken_and_only_once() -> None:
    expecting = book(Expecting(LOBBY.id, "rooms-0"))
    taken = book(Expecting(LOBBY.id, "rooms-0"), Taken(MOVED))

    assert expecting.answer_to(MOVED, "rooms-0") == Taken(MOVED)
    assert expecting.answer_to(MOVED, "rooms-2") == Refused(LOBBY.id, 2)
    assert Book().answer_to(MOVED, "rooms-0") == Refused(LOBBY.id, 2)
    assert taken.answer_to(MOVED, "rooms-0") is None


def test_a_late_copy_of_what_was_refused_is_not_taken_though_the_room_is_expected_by_now() -> None:
    taker = book(Refused(LOBBY.id, 2), Expecting(LOBBY.id, "rooms-0"))
    giver = book(Created(LOBBY), Giving(LOBBY.id, 2, "rooms-1"), Kept(LOBBY.id, 3))

    assert taker.answer_to(MOVED, "rooms-0") is None
    assert giver.accepts_writes(LOBBY.id)
    assert giver.rooms[LOBBY.id].version == 3


def test_a_room_that_comes_back_unchanged_is_newer_all_the_same() -> None:
    lines = (Created(LOBBY), Giving(LOBBY.id, 2, "rooms-1"), Given(LOBBY.id))
    back = Room(id=LOBBY.id, version=3, people=3)

    returned = book(*lines, Expecting(LOBBY.id, "rooms-1"))

    assert returned.answer_to(back, "rooms-1") == Taken(back)


def test_each_change_is_a_version() -> None:
    found = book(Created(LOBBY), Changed(LOBBY.id, "hello", None), Changed(LOBBY.id, "", 5))

    assert found.rooms[LOBBY.id] == Room(id=LOBBY.id, version=3, people=5, said=("hello",))


@pytest.mark.parametrize(
    ("room", "never"),
    [("rooms-0.0.1", False), ("rooms-0.1.0", True), ("rooms-0.x", True), ("rooms-1.7.0", False)],
)
def test_who_gives_a_name_knows_that_it_never_did(*, room: str, never: bool) -> None:
    assert book(Created(LOBBY)).was_never_created(room, by="rooms-0") is never


def test_a_journal_gives_back_what_was_written_but_for_a_line_that_was_torn(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rooms-0.jsonl"
    written: list[Line] = [Created(LOBBY), Changed(LOBBY.id, "hello", None)]
    journal = FileJournal(path)
    for line in written:
        journal.append(line)
    journal.close()
    with path.open("ab") as torn:
        torn.write(b'{"type":"Giving","id":"rooms')

    again = FileJournal(path)

    assert again.lines() == written
    again.append(Giving(LOBBY.id, 3, "rooms-1"))
    assert again.lines() == [*written, Giving(LOBBY.id, 3, "rooms-1")]
    again.close()


def test_two_processes_do_not_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "rooms-0.jsonl"
    first = FileJournal(path)

    with pytest.raises(InUse, match="is written by another process"):
        FileJournal(path)

    first.close()
