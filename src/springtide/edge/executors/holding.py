"""One executor at a time for a folder: the lock ends with the process, however that ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from springtide.base.errors import SpringtideError


class Held(SpringtideError):
    """Somebody else has the folder, or it cannot be used."""


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Have the folder alone while the block is entered, or raise Held."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as fault:
        why = fault.strerror or fault
        raise Held(f"{folder} cannot be used: {why}. Choose another stateDirectory.") from fault
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as fault:
        os.close(lock)
        raise Held(
            f"Another executor has {folder}. End it, or give each workload its own stateDirectory."
        ) from fault
    try:
        yield
    finally:
        os.close(lock)
