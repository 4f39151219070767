"""Members and records as documents, as members old and new write them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.workload import Workload
from springtide.wire.errors import MalformedObject
from springtide.wire.replica_members import (
    BYTES_MAX,
    read_member,
    read_record,
    write_member,
    write_record,
)

CHAT = Workload(name="chat", kind="StatefulSet", api_version="apps/v1", service_namespace="games")
OLDER = b"""{
  "id": "18446744073709551615", "name": "chat-2", "hostname": "node-7", "pid": 4242,
  "listen": ["ipv4://10.0.0.2:8080", "unix:///run/chat"], "hash_code": "77aa", "type_id": "65",
  "type_name": "chat", "area": {"zone_id": 1}, "version": "1.2", "identity": "4fe1",
  "gateways": [{"address": "ipv4://1.2.3.4:80"}],
  "metadata": {"namespace_name": "games", "api_version": "apps/v1", "kind": "StatefulSet",
    "labels": {"hpa_scaling_target": "1", "hpa_scaling_ready": "0", "hpa_with_pod_index": "1",
      "hpa_target_name": "chat", "hpa_target_kind": "StatefulSet", "area": "north"}}
}"""
NAMES = st.text(min_size=1, max_size=12)
MEMBERS = st.builds(
    Member,
    id=st.integers(0, 2**64 - 1),
    name=NAMES,
    has_ordinal=st.booleans(),
    started_ms=st.integers(0, 2**53),
    is_stopping=st.booleans(),
    index=st.none() | st.integers(0, 2**31),
    boot=st.text(max_size=8),
    service=st.text(max_size=8),
    target=NAMES,
    address=st.text(max_size=8),
    is_target=st.booleans(),
    is_ready=st.booleans(),
    labels=st.dictionaries(st.sampled_from(["tier", "zone", "a b"]), st.text(max_size=4)),
)


@given(MEMBERS)
def test_what_is_written_of_a_member_is_read_again(member: Member) -> None:
    assert read_member(write_member(member, CHAT, type_id=65)) == member


@given(st.builds(Record, member=st.text(), boot=st.text(), at_ms=st.integers(0, 2**53)))
def test_what_is_written_of_a_record_is_read_again(record: Record) -> None:
    assert read_record(write_record(record)) == record


def test_a_member_that_is_older_is_read() -> None:
    assert read_member(OLDER) == Member(
        id=2**64 - 1,
        name="chat-2",
        has_ordinal=True,
        boot="4fe1",
        service="chat",
        target="chat",
        address="ipv4://10.0.0.2:8080",
        is_target=True,
        labels={"area": "north"},
    )


def test_older_members_find_all_fields_that_they_look_for() -> None:
    """Covers R-17."""

    member = Member(id=7, name="chat-7", service="chat", has_ordinal=True, is_ready=True)

    written = msgspec.json.decode(write_member(member, CHAT, type_id=65))

    assert written["id"] == 7
    assert written["type_id"] == 65
    assert written["type_name"] == "chat"
    assert written["metadata"]["namespace_name"] == "games"
    assert written["metadata"]["labels"] == {
        "hpa_target_name": "chat",
        "hpa_target_kind": "StatefulSet",
        "hpa_target_api_version": "apps/v1",
        "hpa_with_pod_index": "1",
        "hpa_scaling_target": "0",
        "hpa_scaling_ready": "1",
    }


def test_labels_that_are_ours_do_not_come_from_the_application() -> None:
    said = {"hpa_scaling_ready": "1", "hpa_target_name": "other", "tier": "gold"}
    member = Member(id=7, name="chat-7", target="chat", labels=said)

    read = read_member(write_member(member, CHAT))

    assert (read.is_ready, read.target, read.labels) == (False, "chat", {"tier": "gold"})


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"{", ""),
        (b"[" * 50_000, ""),
        (b"x" * (BYTES_MAX + 1), ""),
        (b"{}", "id"),
        (b'{"id": 1}', "name"),
        (b'{"id": -1, "name": "a"}', "id"),
        (b'{"id": 18446744073709551616, "name": "a"}', "id"),
        (b'{"id": 1, "name": "a", "metadata": []}', "metadata"),
        (
            b'{"id": 1, "name": "a", "metadata": {"annotations": {"hpa_member_index": "x"}}}',
            'metadata.annotations["hpa_member_index"]',
        ),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, field: str) -> None:
    with pytest.raises(MalformedObject) as caught:
        read_member(data)

    assert caught.value.field == field


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"at_ms": "soon"}', b"\xff"])
def test_a_record_that_cannot_be_read_protects_still(data: bytes) -> None:
    assert read_record(data) == Record(member="", boot="", at_ms=0)
