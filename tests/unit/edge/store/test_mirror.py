"""What is known of keys in etcd by reads and watches, whichever comes first."""

import msgspec
import pytest

from springtide.edge.store import ABSENT, LockRead, StatusDamaged, StatusRead
from springtide.edge.store.etcd.mirror import Mirror, Part, Reading
from springtide.edge.store.etcd.shapes import DELETE, Found, Happened, KeyValue
from springtide.edge.store.etcd.spans import spans
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.status import Status
from springtide.model.replicas.values import Folder
from springtide.model.replicas.workload import Workload
from springtide.wire.replica_keys import Place, keys
from springtide.wire.replica_members import write_member, write_record
from springtide.wire.replica_status import write_status

WORKLOAD = Workload(name="chat")
KEYS = keys(Place(workload=WORKLOAD))
MEMBERS = "/services/by_name/"
STATUS = Status(current=1, expect=2, start_ms=1, end_ms=2, scaling_ms=3)
ROOMS = Folder(name="rooms")
RECORD = Record(member="chat-1", boot="b", at_ms=5)


def kv(key: str, value: bytes, revision: int) -> KeyValue:
    return KeyValue(key=key.encode(), value=value, mod_revision=revision)


def chat(index: int) -> Member:
    return Member(id=index, name=f"chat-{index}", target="chat")


def of_member(index: int, revision: int) -> KeyValue:
    document = write_member(chat(index), WORKLOAD)
    return kv(f"{MEMBERS}chat-{index}-{index}", document, revision)


def put(at: KeyValue) -> Happened:
    return Happened(kv=at)


def deleted(key: str, revision: int) -> Happened:
    return Happened(type=DELETE, kv=kv(key, b"", revision))


def reading(revision: int, *members: KeyValue, since: int = 0, count: int | None = None) -> Reading:
    found = Found(kvs=members, count=len(members) if count is None else count)
    return Reading(revision=revision, found=(Found(), Found(), found), since=(since,) * 3)


@pytest.fixture
def mirror() -> Mirror:
    return Mirror(KEYS, spans(KEYS, MEMBERS))


def test_what_is_read_is_known(mirror: Mirror) -> None:
    status, lock = kv(KEYS.status, write_status(STATUS), 3), kv(KEYS.leader, b"chat-1", 4)
    record = kv(KEYS.record(2), write_record(RECORD), 5)
    found = (
        Found(kvs=(status,), count=1),
        Found(kvs=(lock, record), count=2),
        Found(kvs=(of_member(2, 6), of_member(1, 7)), count=2),
    )

    assert mirror.take(Reading(revision=9, found=found, since=(0, 0, 0)))

    assert mirror.status == StatusRead(status=STATUS, revision=3)
    assert mirror.lock == LockRead(4, "chat-1")
    assert mirror.records.records == {2: RECORD}
    assert mirror.members.members == (chat(1), chat(2))
    assert mirror.seen == (9, 9, 9)


def test_an_event_that_is_known_already_changes_nothing(mirror: Mirror) -> None:
    mirror.take(reading(9, of_member(1, 7)))

    assert mirror.see([deleted(f"{MEMBERS}chat-1-1", 9)]) == set()
    assert mirror.see([deleted(f"{MEMBERS}chat-1-1", 10)]) == {Part.MEMBERS}
    assert mirror.members.members == ()


def test_what_is_newer_is_added_to_what_is_known(mirror: Mirror) -> None:
    mirror.take(reading(9, of_member(1, 7)))

    assert mirror.take(reading(12, of_member(2, 11), since=9, count=2))
    assert mirror.members.members == (chat(1), chat(2))


def test_what_was_deleted_unseen_shows_in_the_number_of_keys(mirror: Mirror) -> None:
    mirror.take(reading(9, of_member(1, 7)))

    assert not mirror.take(reading(12, of_member(2, 11), since=9, count=1))
    mirror.forget()
    assert mirror.take(reading(12, of_member(2, 11)))
    assert mirror.members.members == (chat(2),)


def test_a_read_that_is_older_than_the_events_brings_nothing_back(mirror: Mirror) -> None:
    mirror.take(reading(9, of_member(1, 7)))
    mirror.see([deleted(f"{MEMBERS}chat-1-1", 15)])
    mirror.reach(2, 15)

    assert mirror.take(reading(14, of_member(1, 12), since=9, count=1))
    assert mirror.members.members == ()


def test_each_watch_counts_for_itself(mirror: Mirror) -> None:
    mirror.take(reading(9))
    mirror.see([put(of_member(1, 20))])
    mirror.reach(2, 20)

    assert mirror.see([put(kv(KEYS.status, write_status(STATUS), 12))]) == {Part.STATUS}
    assert mirror.status == StatusRead(status=STATUS, revision=12)


def test_each_key_is_a_part_of_its_own(mirror: Mirror) -> None:
    mirror.look_at({ROOMS: "/rooms"})
    events = [
        put(kv(KEYS.number(1), b"chat-1", 3)),
        put(kv("/rooms/eu", b"8", 3)),
        put(kv(KEYS.status, b"{", 3)),
        put(kv(KEYS.leader, b"chat-1", 3)),
        put(kv(KEYS.record(1), b"", 3)),
        put(of_member(1, 3)),
        put(kv("/elsewhere", b"", 3)),
    ]

    assert mirror.see(events) == set(Part)
    assert isinstance(mirror.status, StatusDamaged)
    assert mirror.see([deleted(KEYS.leader, 4)]) == {Part.LOCK}
    assert mirror.lock == LockRead(ABSENT)


def test_a_member_that_cannot_be_read_is_none_in_reads_and_events_alike(mirror: Mirror) -> None:
    """B-3."""
    broken = msgspec.structs.replace(of_member(1, 11), value=b"{")

    mirror.take(reading(9, of_member(1, 7)))
    mirror.see([put(broken)])
    by_event = mirror.members
    mirror.forget()
    mirror.take(reading(12, broken))

    assert by_event.members == mirror.members.members == ()


def test_a_key_that_was_written_is_lacking_only_once_it_should_be_known(mirror: Mirror) -> None:
    mirror.take(reading(9, of_member(1, 7)))

    assert not mirror.lacks(f"{MEMBERS}chat-1-1", 7)
    assert not mirror.lacks(f"{MEMBERS}chat-2-2", 10)
    assert mirror.lacks(f"{MEMBERS}chat-2-2", 8)
    assert not mirror.lacks("/services/by_id/chat-2-2", 8)
