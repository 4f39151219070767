"""Births: one process is told from others of its id, and a lock lives as long as who inherited it."""

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from springtide.edge.executors import Held, births, hold
from springtide.edge.executors.births import Birth


def own_birth(path: Path) -> Birth:
    """Return the record of this very process."""
    path.write_text(f"{births.boot_id()}\n{Path('/proc/self/stat').read_text()}")
    found = births.read_birth(path)
    assert found is not None
    return found


def test_a_process_is_known_by_its_start_and_not_by_its_id_alone(tmp_path: Path) -> None:
    birth = own_birth(tmp_path / "1.born")

    assert birth.pid == os.getpid()
    assert births.lives(birth)
    assert not births.lives(replace(birth, started=birth.started + 1))
    assert not births.lives(replace(birth, boot="another"))
    assert not births.lives(replace(birth, pid=2**22 + 1))


def test_a_process_that_has_ended_and_was_not_waited_for_does_not_live(tmp_path: Path) -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    record = tmp_path / "1.born"
    record.write_text(f"{births.boot_id()}\n{Path(f'/proc/{child.pid}/stat').read_text()}")

    birth = births.read_birth(record)

    assert birth is not None
    assert not births.lives(birth)
    child.wait()


@pytest.mark.parametrize("text", ["", "boot", "boot\n", "boot\n12 (sh) R 1", "boot\nx (a) b) R 1"])
def test_a_record_that_is_not_whole_is_none(tmp_path: Path, text: str) -> None:
    record = tmp_path / "1.born"
    record.write_text(text)

    assert births.read_birth(record) is None
    assert births.read_birth(tmp_path / "2.born") is None


def test_a_lock_is_held_by_who_inherited_it(tmp_path: Path) -> None:
    path = tmp_path / "1.lock"
    with births.locking(path) as lock:
        assert lock is not None
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(lock,))

    assert births.is_locked(path)
    with births.locking(path) as second:
        assert second is None
    child.communicate()
    assert not births.is_locked(path)
    assert not births.is_locked(tmp_path / "2.lock")


def test_one_has_a_folder_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "state"

    with hold(folder), pytest.raises(Held, match="Another executor has"), hold(folder):
        raise AssertionError("nobody comes here")
    with hold(folder):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(Held, match="cannot be used"), hold(tmp_path / "file"):
        raise AssertionError("nobody comes here")
