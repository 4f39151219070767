"""Log lines as JSON, one event each, for programs that collect what processes write."""

import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, Protocol, TextIO

import msgspec

from springtide.base.clock import Calendar

_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)


class Log(Protocol):
    """Takes one event of a process; who writes it down adds the time."""

    def __call__(self, event: str, *, is_fault: bool = False, **facts: object) -> None:
        """Tell it. Facts are texts, numbers, and maps and lists of them; never secrets."""
        ...


class JsonLines:
    """Writes to a stream; a stream that is gone ends nothing."""

    def __init__(self, calendar: Calendar, stream: TextIO | None = None) -> None:
        self._calendar = calendar
        self._stream = stream

    def __call__(self, event: str, *, is_fault: bool = False, **facts: object) -> None:
        """Write one event."""
        stream = sys.stderr if self._stream is None else self._stream
        if stream is None:
            return
        line = {
            "time": self._now(),
            "level": "error" if is_fault else "info",
            "event": event,
            **facts,
        }
        with suppress(OSError, ValueError):
            stream.write(f"{_ENCODER.encode(line).decode()}\n")
            stream.flush()

    def _now(self) -> str:
        now = datetime.fromtimestamp(self._calendar.unix_s(), UTC)
        return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Forwarding(logging.Handler):
    """Writes what libraries log as lines of ours."""

    def __init__(self, lines: JsonLines) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        self._lines(
            "library",
            is_fault=record.levelno >= logging.ERROR,
            logger=record.name,
            message=record.getMessage(),
        )
