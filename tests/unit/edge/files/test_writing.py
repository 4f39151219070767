"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from springtide.edge.files import Unwritable, check_writable, make_folder, write, write_parts


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_holds_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")

    write(str(path), b"after")

    assert path.read_bytes() == b"after"
    assert names(tmp_path) == ["a"]


def test_parts_stand_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "a"

    write_parts(str(path), (f"{number}\n".encode() for number in range(3)))

    assert path.read_bytes() == b"0\n1\n2\n"


def test_parts_that_cannot_be_made_leave_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")

    def parts() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_parts(str(path), parts())

    assert path.read_bytes() == b"before"
    assert names(tmp_path) == ["a"]


def test_a_file_without_its_folder_is_unwritable(tmp_path: Path) -> None:
    path = str(tmp_path / "none" / "a")

    with pytest.raises(Unwritable, match=r"cannot be written: No such file or directory\. Choose"):
        write(path, b"")


@pytest.mark.parametrize(
    ("name", "why"), [("none/a", "Make it, or choose another place"), ("", "Name a file")]
)
def test_what_is_bound_to_fail_is_told_before(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(Unwritable, match=why):
        check_writable(os.path.join(tmp_path, name))  # noqa: PTH118 - a path as people type it


def test_what_can_be_written_is_not_touched_by_finding_out(tmp_path: Path) -> None:
    check_writable(str(tmp_path / "a"))

    assert names(tmp_path) == []


def test_a_folder_is_made_with_those_around_it_unless_it_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"

    make_folder(str(folder))
    make_folder(str(folder))

    assert folder.is_dir()


def test_a_folder_where_a_file_is_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")

    with pytest.raises(Unwritable, match="Choose another place"):
        make_folder(str(tmp_path / "a" / "b"))
