"""The status document of replicas, in all the ways that it is written."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.model.replicas.status import Status
from springtide.wire.errors import MalformedObject
from springtide.wire.replica_status import BYTES_MAX, has_object_times, read_status, write_status

OLDER = (
    b'{"current_replicas":12,"expect_replicas":10,'
    b'"expect_replicate_start_timepoint":{"seconds":"1060","nanos":5000000},'
    b'"expect_replicate_end_timepoint":"1970-01-01T00:18:40Z",'
    b'"expect_scaling_timepoint":"1970-01-01T00:19:40.123456789Z",'
    b'"controller_node_id":"18446744073709551615"}'
)
TIMES = st.integers(0, 253_402_300_799_999)
STATUSES = st.builds(
    Status,
    current=st.integers(0, 2**31 - 1),
    expect=st.integers(0, 2**31 - 1),
    start_ms=TIMES,
    end_ms=TIMES,
    scaling_ms=TIMES,
    generation=st.integers(0, 2**53),
    controller_id=st.integers(0, 2**64 - 1),
    controller_name=st.text(max_size=20),
    reason=st.text(max_size=20),
    written_ms=TIMES,
)


def test_w_10_what_older_members_write_is_read_and_what_is_missing_stays_so() -> None:
    assert read_status(OLDER) == Status(
        current=12,
        expect=10,
        start_ms=1_060_005,
        end_ms=1_120_000,
        scaling_ms=1_180_123,
        controller_id=2**64 - 1,
    )


@given(STATUSES, st.booleans())
def test_what_is_written_is_read_again(status: Status, has_objects: bool) -> None:  # noqa: FBT001
    assert read_status(write_status(status, has_objects=has_objects)) == status


@pytest.mark.parametrize("has_objects", [True, False])
def test_how_times_are_written_shows_in_the_document(has_objects: bool) -> None:  # noqa: FBT001
    status = Status(current=1, expect=2, start_ms=1_500, end_ms=2_000, scaling_ms=3_000)

    assert has_object_times(write_status(status, has_objects=has_objects)) == has_objects


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"generation": "x"}'])
def test_what_has_no_times_is_written_with_texts(data: bytes) -> None:
    assert not has_object_times(data)


def test_times_are_written_as_texts() -> None:
    status = Status(current=1, expect=2, start_ms=1_500, end_ms=2_000, scaling_ms=3_000)

    document = msgspec.json.decode(write_status(status))

    assert document["expect_replicate_start_timepoint"] == "1970-01-01T00:00:01.500Z"
    assert document["expect_replicate_end_timepoint"] == "1970-01-01T00:00:02Z"
    assert document["schema"] == 2


BAD = {
    "no JSON": (b"{", ""),
    "a newer schema": (b'{"schema":3}', "schema"),
    "a text for a number": (b'{"expect_replicas":"many"}', "expect_replicas"),
    "no time": (b'{"written_at":"soon"}', "written_at"),
    "before 1970": (b'{"written_at":"1969-12-31T00:00:00Z"}', "written_at"),
    "no id": (b'{"controller_node_id":"x"}', "controller_node_id"),
    "an endless id": (b'{"controller_node_id":"' + b"9" * 30 + b'"}', "controller_node_id"),
    "too long": (b" " * (BYTES_MAX + 1), ""),
}


@pytest.mark.parametrize(("data", "field"), BAD.values(), ids=BAD)
def test_a_damaged_status_names_its_field(data: bytes, field: str) -> None:
    with pytest.raises(MalformedObject) as caught:
        read_status(data)

    assert caught.value.field == field


def test_a_time_without_a_zone_is_of_greenwich() -> None:
    assert read_status(b'{"written_at":"1970-01-01T00:00:01"}').written_ms == 1000
