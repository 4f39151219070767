"""Where rooms of the example service belong: five members, of which four are wanted."""

from msgspec.structs import replace

from examples.rooms.placing import owner, target_count
from springtide.engine.replicas.phases import Phase
from springtide.model.replicas.member import Member
from springtide.model.replicas.status import Status
from springtide.replicas import Snapshot
from springtide.replicas.ownership import owner_of

MEMBERS = tuple(
    Member(id=0, name=f"rooms-{index - 1}", index=index, is_target=index < 5, is_ready=True)
    for index in range(1, 6)
)
STATUS = Status(current=5, expect=4, start_ms=1, end_ms=2, scaling_ms=3)
ROOMS = [f"rooms-0.{number}.0" for number in range(60)]


def snapshot(index: int, *, phase: Phase = Phase.MIGRATING, **changes: Member) -> Snapshot:
    """Return what a member knows; changes are of members by name, with `_` for `-`."""
    members = tuple(changes.get(each.name.replace("-", "_"), each) for each in MEMBERS)
    name = f"rooms-{index - 1}"
    return Snapshot(name=name, index=index, status=STATUS, phase=phase, members=members)


def test_until_a_round_starts_the_old_number_owns() -> None:
    assert target_count(snapshot(1, phase=Phase.PENDING)) == 5
    assert target_count(snapshot(1)) == 4
    assert target_count(Snapshot(name="rooms-0", members=MEMBERS)) == 4


def test_a_room_stays_at_its_owner_and_else_goes_there() -> None:
    for room in ROOMS:
        found = owner(room, snapshot(2), is_target=True)

        index = owner_of(room, 4)
        assert found == (None if index == 2 else MEMBERS[index - 1])


def test_a_room_does_not_go_to_who_is_target_and_not_ready_because_no_record_protects_that_one() -> (
    None
):
    unready = replace(MEMBERS[2], is_ready=False)
    theirs = [room for room in ROOMS if owner_of(room, 4) == 3]

    assert theirs
    assert not any(owner(room, snapshot(1, rooms_2=unready), is_target=True) for room in theirs)


def test_whoever_leaves_gives_rooms_of_an_absent_owner_to_others() -> None:
    dead = replace(MEMBERS[2], is_alive=False)
    leaving = snapshot(5, rooms_2=dead)

    owners = [owner(room, leaving, is_target=False) for room in ROOMS]

    assert {each.name for each in owners if each} == {"rooms-0", "rooms-1", "rooms-3"}
    assert None not in owners


def test_where_nobody_else_is_there_a_room_stays() -> None:
    alone = replace(snapshot(5), members=(MEMBERS[4],))

    assert owner(ROOMS[0], alone, is_target=False) is None
