"""Runs programs as long as a block, or as long as this process lives if it is killed in the middle.

All programs are members of one process group. Its leader does nothing but read a pipe of which we hold
the other end: when we end, however that is, the pipe ends, and the leader kills the group. What the
programs print goes to a file each, to be shown when something fails.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

GUARD: Final = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdin.buffer.read()
os.killpg(0, signal.SIGKILL)
"""
STOP_S: Final = 15.0
POLL_S: Final = 0.05
TAIL_LINES: Final = 25
TAIL_BYTES: Final = 64 << 10


class Processes:
    """Programs by name, to be stopped by leaving the block."""

    def __init__(self, logs: Path, *, patience_s: float = STOP_S) -> None:
        self._logs = logs
        self._patience_s = patience_s
        self._commands: dict[str, Sequence[str]] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        self._logs.mkdir(parents=True, exist_ok=True)
        self._guard = subprocess.Popen(
            [sys.executable, "-S", "-c", GUARD], stdin=subprocess.PIPE, process_group=0
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            for name in reversed(list(self._running)):
                self.stop(name)
        finally:
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard.wait()

    def __contains__(self, name: str) -> bool:
        """Whether a program of this name was started and not stopped."""
        return name in self._running

    @property
    def names(self) -> tuple[str, ...]:
        """The programs that were ever started, in that order."""
        return tuple(self._commands)

    def start(
        self, name: str, command: Sequence[str], *, environ: Mapping[str, str] | None = None
    ) -> None:
        """Starts a program under a name that is free."""
        assert name not in self._running
        self._commands[name] = command
        with self.log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=None if environ is None else {**os.environ, **environ},
                process_group=self._guard.pid,
            )

    def again(self, name: str) -> None:
        """Starts a program that was stopped, as it was."""
        self.start(name, self._commands[name])

    def stop(self, name: str, *, how: signal.Signals = signal.SIGTERM) -> int:
        """Stops a program, and returns its code; one that does not go when asked is killed."""
        process = self._running.pop(name)
        process.send_signal(how)
        try:
            return process.wait(self._patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def ended(self, name: str, *, limit_s: float) -> int:
        """Waits until a program ends by itself, and returns its code."""
        code = self._running[name].wait(limit_s)
        del self._running[name]
        return code

    def process_id(self, name: str) -> int:
        """What the system calls the program."""
        return self._running[name].pid

    def wait_until(
        self, is_so: Callable[[], bool], what: str, *, name: str, limit_s: float
    ) -> None:
        """Waits until something holds of a program, and fails with its last words."""
        end_s = time.monotonic() + limit_s
        while not is_so():
            code = self._running[name].poll()
            assert code is None, f"{name} ended with {code}:\n{self.tail(name)}"
            assert time.monotonic() < end_s, (
                f"{name} is not {what} within {limit_s:g} s:\n{self.tail(name)}"
            )
            time.sleep(POLL_S)

    def tail(self, name: str, lines: int = TAIL_LINES) -> str:
        """The last lines that a program printed."""
        with self.log(name).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL_BYTES))
            text = log.read().decode(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def log(self, name: str) -> Path:
        """The file with all that a program printed, however often it was started."""
        return self._logs / f"{name}.log"
