"""How far long work is, in one line of the terminal that is gone when the work is done.

Nothing is shown in the first second, nor ever where standard error is no terminal. The work only
leaves a note of what it does; a thread of its own looks at the note a few times a second, so that
the line also stands while one step takes long, and the work never waits for the terminal.
"""

import os
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self, TextIO

from springtide.wire.source import Source

QUIET_S: Final = 1.0
INTERVAL_S: Final = 0.2
WIDTH_MIN: Final = 20
WIDTH_UNKNOWN: Final = 80
# Back to the first column, and everything behind it erased.
ERASE: Final = "\r\x1b[K"
READING: Final = "Reading the input"
_MEGA: Final = 1_000_000


class Note:
    """What is being done, as the last one to say so put it."""

    def __init__(self) -> None:
        self._doing = ""
        self._done = 0
        self._total = 0

    def begin(self, doing: str) -> None:
        """Note what is being done from now on."""
        self._doing, self._done, self._total = doing, 0, 0

    def placed(self, done: int, total: int) -> None:
        """Note how many of the pods have a place by now."""
        self._done, self._total = done, total

    def text(self, width: int) -> str:
        """Return the note as one line that is narrower than the width, nothing if there is none."""
        if not self._doing:
            return ""
        told = self._doing
        if self._total:
            told += f", {self._done:,} of {self._total:,} pods placed"
        # A full line would move the cursor on.
        return f"{told[: width - 2]}…"


class Progress(Note):
    """The note, shown on a terminal while it is entered."""

    def __init__(self, stream: TextIO, *, is_shown: bool = True) -> None:
        super().__init__()
        self._stream = stream
        self._is_shown = is_shown
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._show, name="progress", daemon=True)

    def __enter__(self) -> Self:
        if self._is_shown:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        if self._is_shown:
            self._thread.join()

    def _show(self) -> None:
        shown = ""
        try:
            while not self._is_over.wait(INTERVAL_S if shown else QUIET_S):
                text = self.text(columns(self._stream))
                if text != shown:
                    self._write(f"{ERASE}{text}")
                shown = text
            if shown:
                self._write(ERASE)
        except (OSError, ValueError):
            # A terminal that went away needs no progress.
            return

    def _write(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(text.encode(encoding, "replace").decode(encoding))
        self._stream.flush()


def on_terminal(*, is_wanted: bool) -> Progress:
    """Return the progress of this process, shown where it is wanted and somebody can see it."""
    is_seen = sys.stderr is not None and sys.stderr.isatty()
    return Progress(sys.stderr, is_shown=is_wanted and is_seen)


def reading(sources: Sequence[Source]) -> str:
    """Return that these sources are read."""
    size_mb = sum(len(each.data) for each in sources) / _MEGA
    return f"Reading {size_mb:,.0f} MB" if size_mb >= 1 else READING


def columns(stream: TextIO) -> int:
    """Return how wide the terminal is now, since it may have been resized."""
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        found = 0
    return max(WIDTH_MIN, found or WIDTH_UNKNOWN)
