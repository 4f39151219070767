"""Input files, folders and standard input."""

import gzip
import io
from pathlib import Path

import pytest

from springtide.edge.files import Empty, Missing, Unreadable, read
from springtide.wire.source import Source

NOTHING = io.BytesIO()


def test_a_file_is_named_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"{}")

    assert read([str(path)], NOTHING) == [Source(str(path), b"{}")]


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_bytes(b"{}")

    assert [source.data for source in read([str(path)], NOTHING)] == [b"{}"]


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"{}"))

    assert [source.data for source in read([str(path)], NOTHING)] == [b"{}"]


def test_a_folder_stands_for_all_documents_below_it_in_order(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "a/c.json", "a/d.json.gz", "notes.txt", ".hidden/x.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    (tmp_path / "empty.yaml").write_bytes(b"\n")

    found = read([str(tmp_path)], NOTHING)

    assert [source.data for source in found] == [b"a/c.json", b"a/d.json.gz", b"a/z.yml", b"b.yaml"]


def test_a_link_back_up_does_not_lead_in_circles(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)

    assert len(read([str(tmp_path)], NOTHING)) == 1


def test_a_dash_is_standard_input_packed_or_not() -> None:
    plain = read(["-"], io.BytesIO(b"{}"))
    packed = read(["-"], io.BytesIO(gzip.compress(b"{}")))

    assert plain == packed == [Source("standard input", b"{}")]


def test_sources_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"a")

    found = read(["-", str(tmp_path / "a.json")], io.BytesIO(b"first"))

    assert [source.data for source in found] == [b"first", b"a"]


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="there is no such file or folder; check the path"):
        read([str(tmp_path / "nope.json")], NOTHING)


@pytest.mark.parametrize("data", [b"", b" \n"])
def test_empty_standard_input_says_so(data: bytes) -> None:
    with pytest.raises(Empty, match="standard input: the command before it printed nothing"):
        read(["-"], io.BytesIO(data))


def test_an_empty_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.touch()

    with pytest.raises(Empty, match="the file is empty"):
        read([str(path)], NOTHING)


def test_a_folder_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"x")

    with pytest.raises(Empty, match="the folder holds no documents"):
        read([str(tmp_path)], NOTHING)


def test_a_packed_file_that_breaks_off_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"{}" * 1000)[:-10])

    with pytest.raises(Unreadable, match="packed with gzip and cannot be unpacked"):
        read([str(path)], NOTHING)
