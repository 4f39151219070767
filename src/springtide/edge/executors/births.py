"""Who was started under a number: a record of the process at its birth, and a lock that lives as long as it.

A process id alone says little, because the system uses it again. With the time of its start and the boot it
names one process. The lock is inherited by the member, so that it is taken from before the member is there
until it and all that it started have ended, even if nobody was left to write a record.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_ENDED: Final = frozenset({"Z", "X"})
_START_FIELD: Final = 19
"""Counted from the state, which follows the name in parentheses."""


class Birth(msgspec.Struct, frozen=True, kw_only=True):
    """One process: its id, when it was started by the ticks of a boot, and which boot."""

    pid: int
    started: int
    boot: str


class _Stat(msgspec.Struct, frozen=True):
    state: str
    started: int


def boot_id() -> str:
    """Return what tells this boot from others."""
    return BOOT.read_text("ascii").strip()


def read_birth(path: Path) -> Birth | None:
    """Return what a record says; None if there is none that is whole."""
    try:
        boot, line = path.read_text("utf-8", errors="replace").split("\n", 1)
        return Birth(pid=int(line.split(" ", 1)[0]), started=_stat(line).started, boot=boot)
    except (OSError, ValueError, IndexError):
        return None


def lives(birth: Birth) -> bool:
    """Return whether it is this process that runs under its id."""
    try:
        found = _stat(Path(f"/proc/{birth.pid}/stat").read_text("utf-8", errors="replace"))
    except (OSError, ValueError, IndexError):
        return False
    is_same = found.started == birth.started and birth.boot == boot_id()
    return is_same and found.state not in _ENDED


def is_locked(path: Path) -> bool:
    """Return whether somebody holds a lock."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _taken(lock)
    finally:
        os.close(lock)


@contextmanager
def locking(path: Path) -> Iterator[int | None]:
    """Open a lock to be handed to a member; None if somebody holds it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield lock if _taken(lock) else None
    finally:
        # Whoever inherited it goes on holding it.
        os.close(lock)


def forget(*paths: Path) -> None:
    """Remove records of who has ended."""
    for path in paths:
        with suppress(FileNotFoundError):
            path.unlink()


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _stat(line: str) -> _Stat:
    """Return what the system says of a process; its name may hold anything, parentheses too."""
    fields = line[line.rindex(")") + 1 :].split()
    return _Stat(fields[0], int(fields[_START_FIELD]))
