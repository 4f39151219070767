"""Where the status, the lock, records and members lie in etcd."""

import pytest

from springtide.model.replicas.values import Folder, ValueKey
from springtide.model.replicas.workload import Workload
from springtide.wire.replica_keys import (
    Keys,
    Place,
    folder_key,
    keys,
    member_keys,
    members_prefix,
    value_key,
)

CHAT = Workload(name="chat-v7", kind="StatefulSet", api_version="apps/v1", environment="prod")
BASE = "/atapp/hpa/prod/default/StatefulSet/apps/v1/chat-v7"


def test_the_layout_is_that_of_older_members() -> None:
    found = keys(Place(workload=CHAT))

    assert found.status == BASE
    assert found.leader == f"{BASE}/.leader"
    assert found.record(12) == f"{BASE}/.ready/12"


@pytest.mark.parametrize("prefix", ["/atapp/hpa", "/atapp/hpa/", "/atapp/hpa//"])
def test_slashes_are_not_doubled(prefix: str) -> None:
    assert keys(Place(workload=CHAT, prefix=prefix)).status == BASE


@pytest.mark.parametrize(
    ("workload", "path"),
    [
        (Workload(name="chat"), "default/chat"),
        (Workload(name="chat", kind="Set"), "default/Set/chat"),
        (Workload(name="chat/", kind="Set", environment="/dev/"), "dev/default/Set/chat"),
        (Workload(name="chat", kind="dev/Set", environment="dev"), "default/dev/Set/chat"),
        (Workload(name="chat", kind="device", environment="dev"), "dev/default/device/chat"),
    ],
)
def test_what_is_unsaid_or_said_already_is_left_out(workload: Workload, path: str) -> None:
    assert keys(Place(workload=workload, prefix="/p")).status == f"/p/{path}"


def test_discoveries_of_an_application_have_keys_of_their_own() -> None:
    """B-8."""
    found = {keys(Place(workload=CHAT, discovery=each)).status for each in ("", "rooms", "ranks")}

    assert found == {
        BASE,
        f"{BASE.replace('default', 'custom')}/rooms",
        f"{BASE.replace('default', 'custom')}/ranks",
    }


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        (Folder(name="rooms"), "prod/custom/StatefulSet/apps/v1/chat-v7/rooms"),
        (Folder(name="rooms", domain="arena"), "prod/arena/StatefulSet/apps/v1/chat-v7/rooms"),
        (Folder(name="rooms", has_target=False), "prod/custom/rooms"),
    ],
)
def test_values_lie_under_the_name_of_their_discovery(folder: Folder, path: str) -> None:
    """B-8."""
    place = Place(workload=CHAT, prefix="/p/")

    assert folder_key(place, folder) == f"/p/{path}"
    assert value_key(place, ValueKey(folder)) == f"/p/{path}"
    assert value_key(place, ValueKey(folder, "eu/limit")) == f"/p/{path}/eu/limit"


def test_a_number_that_is_claimed_lies_beside_the_status() -> None:
    found = keys(Place(workload=CHAT, is_observing=True))

    assert found.number(3) == f"{BASE}/.index/3"
    assert found.claimed(f"{BASE}/.index/3") == 3
    assert found.claimed(found.record(3)) is None
    assert found.claimed(f"{BASE}/.index/03") is None


def test_who_only_observes_decides_apart_and_shares_the_records() -> None:
    acting = keys(Place(workload=CHAT))
    observing = keys(Place(workload=CHAT, is_observing=True))

    assert observing.status == f"{BASE}/.observe"
    assert observing.leader == f"{BASE}/.observe/.leader"
    assert observing.record(3) == acting.record(3)


@pytest.mark.parametrize(
    ("key", "index"),
    [
        (f"{BASE}/.ready/12", 12),
        (f"{BASE}/.ready/0", 0),
        (f"{BASE}/.ready/012", None),
        (f"{BASE}/.ready/x", None),
        (f"{BASE}/.ready/", None),
        (f"{BASE}/.ready/1/2", None),
        (f"{BASE}/.leader", None),
        ("12", None),
    ],
)
def test_the_number_of_a_record_is_in_its_key(key: str, index: int | None) -> None:
    assert Keys(base=BASE, status=BASE).index(key) == index


def test_a_member_is_found_by_all_that_it_has() -> None:
    found = member_keys("/services/", name="chat-3", id=77, type_id=9, type_name="chat")

    assert found == [
        "/services/by_id/chat-3-77",
        "/services/by_name/chat-3-77",
        "/services/by_type_id/9/chat-3-77",
        "/services/by_type_name/chat/chat-3-77",
    ]
    assert len(member_keys("/services", name="a", id=1, type_id=0, type_name="")) == 2
    assert found[1].startswith(members_prefix("/services/"))
