"""A journal on disk: one line of JSON each, appended and flushed to the system before anybody is answered.

It survives the end of the process, also by SIGKILL. Against a machine that loses power it does not sync, and a
disk that is gone is gone with its rooms. One process writes at a time: the file is locked.
"""

import fcntl
import os
from pathlib import Path

import msgspec

from examples.rooms.book import Line
from springtide.base.errors import SpringtideError

_MODE = 0o644


class InUse(SpringtideError):
    """Another process writes this journal; end it first."""


class FileJournal:
    """The journal of one member."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._encoder = msgspec.json.Encoder()
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, _MODE)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise InUse(f"{path} is written by another process; end it first.") from None

    def lines(self) -> list[Line]:
        """Return what was written; a line that was not finished was never answered, and goes."""
        written = self._path.read_bytes()
        whole, _, torn = written.rpartition(b"\n")
        if torn:
            os.truncate(self._path, len(written) - len(torn))
        decoder = msgspec.json.Decoder(Line)
        return [decoder.decode(each) for each in whole.splitlines()]

    def append(self, line: Line) -> None:
        """Write a line."""
        os.write(self._file, self._encoder.encode(line) + b"\n")

    def close(self) -> None:
        """Let another process write."""
        os.close(self._file)
