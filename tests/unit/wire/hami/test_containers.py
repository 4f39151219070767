"""What each container was given, as an annotation's text."""

import pytest

from springtide.model.device import Grant
from springtide.wire.hami import Malformed, containers

Lists = list[list[Grant]]


def grant(device_id: str, memory_mib: int, cores: int) -> Grant:
    return Grant(device_id=device_id, type="NVIDIA", memory_mib=memory_mib, cores=cores)


@pytest.mark.parametrize(
    ("lists", "text"),
    [
        (
            [[grant("GPU-a", 1000, 30), grant("GPU-b", 1000, 30)]],
            "GPU-a,NVIDIA,1000,30:GPU-b,NVIDIA,1000,30:;",
        ),
        ([[], [grant("GPU-a", 3000, 0)]], ";GPU-a,NVIDIA,3000,0:;"),
        (
            [[grant("GPU-a", 3000, 0)], [grant("GPU-a", 5000, 0)]],
            "GPU-a,NVIDIA,3000,0:;GPU-a,NVIDIA,5000,0:;",
        ),
        (
            [[grant("GPU-a", 500, 3)], [grant("GPU-b", 500, 3)], []],
            "GPU-a,NVIDIA,500,3:;GPU-b,NVIDIA,500,3:;;",
        ),
        pytest.param([], "", id="T01 no container"),
        pytest.param([[]], ";", id="T01 no device"),
        pytest.param(
            [[grant("A", 1000, 30)], [grant("B", 1000, 30)], []],
            "A,NVIDIA,1000,30:;B,NVIDIA,1000,30:;;",
            id="T03",
        ),
    ],
)
def test_every_container_is_one_segment(lists: Lists, text: str) -> None:
    assert containers.encode(lists) == text


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        pytest.param("", [[]], id="T01"),
        pytest.param("A,NVIDIA,500,3:;B,NVIDIA,500,3:;", [["A"], ["B"], []], id="T02"),
        (";A,NVIDIA,500,3:;", [[], ["A"], []]),
        ("garbage;", [[], []]),
        ("A,NVIDIA,500,3,extra:;", [["A"], []]),
        pytest.param("A,NVIDIA,1000,30:;B,NVIDIA,1000,30:;;", [["A"], ["B"], [], []], id="T03"),
    ],
)
def test_reading_keeps_positions_and_the_surplus_tail(text: str, ids: list[list[str]]) -> None:
    read = containers.decode(text)

    assert [[each.device_id for each in segment] for segment in read] == ids


def test_what_is_written_reads_back() -> None:
    written = ((grant("GPU-a", 1000, 30), grant("GPU-b", 1000, 30)), (), (grant("GPU-a", 5, 0),))

    read = containers.decode(containers.encode(written))

    assert read == (*written, ())


def test_the_older_placeholder_is_no_device() -> None:
    read = containers.decode(",,0,0:;GPU-a,NVIDIA,1000,0:;,,0,0:;")

    assert read == ((), (grant("GPU-a", 1000, 0),), (), ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(
            "uuid,type,100:;",
            "pod annotation format error, missing fields, do not use nodeName in task spec",
            id="T04",
        ),
        (
            "uuid,type,x,1:;",
            'invalid memory field: strconv.ParseInt: parsing "x": invalid syntax',
        ),
        (
            "uuid,type,1,4294967296:;",
            'invalid core field: strconv.ParseInt: parsing "4294967296": value out of range',
        ),
        (
            "uuid,type, 1,1:;",
            'invalid memory field: strconv.ParseInt: parsing " 1": invalid syntax',
        ),
        (
            "uuid,type,1_0,1:;",
            'invalid memory field: strconv.ParseInt: parsing "1_0": invalid syntax',
        ),
    ],
)
def test_a_broken_device_refuses_the_whole_text(text: str, fault: str) -> None:
    with pytest.raises(Malformed) as raised:
        containers.decode(text)

    assert str(raised.value) == fault


def test_signs_are_digits_company() -> None:
    ((read,), _tail) = containers.decode("A,NVIDIA,+5,-3:;")

    assert (read.memory_mib, read.cores) == (5, -3)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("A,NVIDIA,5,3:;", [["A"]]),
        ("A,NVIDIA,5,3:", [["A"]]),
        (";B,NVIDIA,5,3:", [[], ["B"]]),
        (";", [[]]),
        ("", []),
    ],
)
def test_a_list_whose_end_is_missing_loses_no_device(text: str, ids: list[list[str]]) -> None:
    read = containers.entries(text)

    assert [[grant.device_id for grant in grants] for grants in read] == ids
